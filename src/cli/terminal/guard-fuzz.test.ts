/**
 * Random bytes through the guard into a real terminal. A long run:
 * AGENTBOX_TERMINAL_FUZZ=1000000 AGENTBOX_TERMINAL_SEED=1 npx vitest run --project=unit src/cli/terminal/guard-fuzz.test.ts
 */
import { SerializeAddon } from "@xterm/addon-serialize";
import headless from "@xterm/headless";
import { describe, expect, it } from "vitest";
import {
  chunked,
  fuzzCount,
  fuzzSeed,
  harmlessStream,
  hostileStream,
  knownAttacks,
} from "../../../test/support/terminal-fuzz.ts";
import { surviveFaults } from "../../base/terminal-faults.ts";
import { type Random, seeded } from "../../../test/support/seeded.ts";
import { XtermWitness, isHarmless } from "../../../test/support/terminal-witness.ts";
import { TerminalGuard } from "./guard.ts";

const timeoutMs = 60_000 + fuzzCount(0) * 2;

/** Through a guard of its own, in pieces. */
function guarded(random: Random, bytes: Buffer): Buffer {
  const guard = new TerminalGuard();
  return Buffer.concat([...chunked(random, bytes)].map((chunk) => Buffer.from(guard.push(chunk))));
}

const whole = (bytes: Buffer): Buffer => Buffer.from(new TerminalGuard().push(bytes));
const readable = (bytes: Buffer): string => JSON.stringify(bytes.toString("latin1"));

describe(`the guard and any bytes, seed ${fuzzSeed}`, () => {
  it(
    "does nothing to xterm but draw, move and colour, however the bytes are cut",
    async () => {
      const random = seeded(fuzzSeed);
      const witness = new XtermWitness();
      let harmfulBefore = 0;
      for (let index = 0; index < fuzzCount(2_500); index += 1) {
        const given = hostileStream(random);
        const passed = guarded(random, given);
        expect(passed.equals(whole(given)), readable(given)).toBe(true);
        expect(whole(passed).equals(passed), readable(given)).toBe(true);
        const harmful = (await witness.see(passed)).filter((act) => !isHarmless(act));
        expect(harmful, `${readable(given)} became ${readable(passed)}`).toEqual([]);
      }
      // The control: the same bytes without the guard do all of it.
      const unguarded = new XtermWitness();
      const control = seeded(fuzzSeed);
      const seen = new Set<string>();
      const streams = Array.from({ length: 1_500 }, () => hostileStream(control));
      for (const given of [...knownAttacks.map((text) => Buffer.from(text, "latin1")), ...streams]) {
        // It would do what such a number says, for hours.
        if (/\d{5}/.test(given.toString("latin1"))) continue;
        const acts = await unguarded.see(Buffer.concat([given, Buffer.from("\u0018")]));
        const harmful = acts.filter((act) => !isHarmless(act));
        if (harmful.length > 0) harmfulBefore += 1;
        for (const act of harmful) seen.add(act.split(" ").slice(0, 2).join(" "));
      }
      expect(harmfulBefore).toBeGreaterThan(300);
      for (const act of ["OSC 52", "OSC 0", "OSC 1337", "CSI t", "DCS $q", "ESC c", "title owned"])
        expect(seen).toContain(act);
      witness.dispose();
      unguarded.dispose();
    },
    timeoutMs,
  );

  it(
    "shows the same screen as without it, where nothing is to be dropped",
    async () => {
      const random = seeded(fuzzSeed + 1);
      for (let index = 0; index < fuzzCount(400) / 20; index += 1) {
        const given = harmlessStream(random);
        const [shown, expected] = [await screenOf(guarded(random, given)), await screenOf(given)];
        expect(shown, readable(given)).toEqual(expected);
      }
    },
    timeoutMs,
  );
});

async function screenOf(bytes: Buffer): Promise<unknown> {
  const terminal = new headless.Terminal({ allowProposedApi: true, cols: 80, rows: 24 });
  surviveFaults(terminal);
  const serializer = new SerializeAddon();
  terminal.loadAddon(serializer);
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const { cursorX, cursorY, type } = terminal.buffer.active;
  const screen = { text: serializer.serialize(), cursorX, cursorY, type, modes: { ...terminal.modes } };
  terminal.dispose();
  return screen;
}
