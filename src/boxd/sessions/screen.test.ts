import fc from "fast-check";
import { expect, test } from "vitest";
import { Emulator } from "./emulator.ts";
import { Screen } from "./screen.ts";

/** The screen of a plain emulator that was fed with everything. */
async function expected(bytes: Uint8Array): Promise<string> {
  const emulator = new Emulator(80, 24, () => undefined);
  await new Promise<void>((resolve) => emulator.write(bytes, resolve));
  return emulator.screen();
}

async function shown(chunks: readonly Uint8Array[]): Promise<string> {
  const screen = new Screen(new Emulator(80, 24, () => undefined), () => undefined);
  for (const chunk of chunks) screen.write(chunk);
  return screen.close();
}

const lines = (count: number, text = "some line of text") =>
  Array.from({ length: count }, (_, index) => `${text} ${index}\r\n`).join("");

const cases: Record<string, string> = {
  "plain lines": lines(30_000),
  "long lines that wrap": lines(8_000, "x".repeat(200)),
  "tabs and wide characters": lines(12_000, "\t漢字\té"),
  "colour before": `\u001b[31mred ${lines(20_000)}`,
  "a full screen before, cursor at the top": `${lines(30)}\u001b[H${lines(20_000)}`,
  "a scroll region": `\u001b[5;10r${lines(20_000)}`,
  "origin mode": `\u001b[5;10r\u001b[?6h${lines(20_000)}`,
  "the alternate screen": `before\u001b[?1049h${lines(20_000)}`,
  "an unfinished sequence before": `\u001b]0;title ${lines(20_000)}`,
  "no carriage returns": lines(20_000).replaceAll("\r", ""),
  "a hidden eight-bit control": `${lines(10_000)}\u009b5;10r${lines(10_000)}`,
  "insert mode": `${lines(40)}\u001b[H\u001b[4h${lines(20_000)}`,
};

test.each(Object.entries(cases))("skipped output leaves no trace: %s", async (_, text) => {
  const bytes = Buffer.from(text);
  const middle = Math.floor(bytes.length / 3);
  const screen = await shown([bytes.subarray(0, 11), bytes.subarray(11, middle), bytes.subarray(middle)]);
  expect(screen === (await expected(bytes))).toBe(true);
});

test("plain lines are skipped, and are not where they could leave a trace", async () => {
  const parsedOf = async (text: string) => {
    let parsed = 0;
    const emulator = new Emulator(80, 24, () => undefined);
    const write = emulator.write.bind(emulator);
    emulator.write = (bytes, done) => {
      parsed += bytes.length;
      write(bytes, done);
    };
    const screen = new Screen(emulator, () => undefined);
    screen.write(Buffer.from(text.slice(0, 8)));
    await screen.snapshot();
    screen.write(Buffer.from(text.slice(8)));
    await screen.close();
    return parsed;
  };
  const plain = lines(50_000);
  expect(await parsedOf(plain)).toBeLessThan(plain.length / 5);
  const region = `\u001b[5;10r${plain}`;
  expect(await parsedOf(region)).toBe(region.length);
});

test("any text in any pieces shows the same as in one", async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "\u001b[2J",
      "\u001b[H",
      "\u001b[5;9r",
      "\u001b[r",
      "\u001b[?6h",
      "\u009b3A",
      "\u001b[",
      "m",
      "漢\r\n",
      "é",
    ),
    fc.integer({ min: 1, max: 9_000 }).map((count) => lines(count, "l")),
    fc.string({ maxLength: 20 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 8 }),
      fc.integer({ min: 1, max: 70_000 }),
      async (pieces, size) => {
        const bytes = Buffer.from(pieces.join(""));
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        expect((await shown(chunks)) === (await expected(bytes))).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
}, 60_000);

test("a snapshot is of the moment it was asked for", async () => {
  const screen = new Screen(new Emulator(80, 24, () => undefined), () => undefined);
  screen.write(Buffer.from("before"));
  const snapshot = screen.snapshot();
  screen.write(Buffer.from(" after"));
  expect(await snapshot).toBe("before");
  expect(await screen.close()).toBe("before after");
});

test("what is not yet parsed is bounded by asking for a pause, and asking again", async () => {
  let freed = 0;
  const screen = new Screen(new Emulator(80, 24, () => undefined), () => (freed += 1));
  const coloured = Buffer.from("\u001b[32mx\u001b[0m".repeat(50_000));
  for (let index = 0; index < 10; index += 1) screen.write(coloured);
  expect(screen.isFull).toBe(true);
  await screen.snapshot();
  expect(screen.isFull).toBe(false);
  expect(freed).toBeGreaterThan(0);
});
