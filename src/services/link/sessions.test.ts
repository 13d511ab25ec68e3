import { SerializeAddon } from "@xterm/addon-serialize";
import headless from "@xterm/headless";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import type { MainSession } from "../../contract/box.ts";
import type { SessionStatus } from "../../contract/link/messages.ts";
import type { LinkStream } from "../../ports/link.ts";
import { collect, FixtureBox, removeBuild } from "./box.fixture.ts";

const ended: SessionStatus[] = [];
const connections: { boot: string; isReconnect: boolean }[] = [];
let lost = 0;
let box: FixtureBox;
beforeAll(async () => {
  box = await FixtureBox.start({
    listener: {
      sessionEnded: (session) => ended.push(session),
      connected: (boot, isReconnect) => connections.push({ boot, isReconnect }),
      lost: () => (lost += 1),
    },
  });
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await removeBuild();
});

const terminal = (...argv: string[]): MainSession => ({ argv, env: {}, terminal: true, cols: 80, rows: 24 });

class Watcher {
  readonly emulator = new headless.Terminal({ cols: 80, rows: 24, scrollback: 5000, allowProposedApi: true });
  readonly #serializer = new SerializeAddon();
  readonly stream: LinkStream;
  readonly closed: Promise<Error | undefined>;
  text = "";
  /** As `30x100`, in the order they were told. */
  readonly sizes: string[] = [];

  constructor(stream: LinkStream) {
    this.stream = stream;
    stream.onMessage((message) => {
      if (message.type === "size") this.sizes.push(`${message.rows}x${message.cols}`);
    });
    this.emulator.loadAddon(this.#serializer);
    stream.onData((chunk) => {
      this.text += Buffer.from(chunk).toString();
      this.emulator.write(chunk);
    });
    this.closed = new Promise((resolve) => stream.onClose(resolve));
  }

  async screen(): Promise<string> {
    await new Promise<void>((resolve) => this.emulator.write("", resolve));
    return this.#serializer.serialize();
  }

  async saw(text: string): Promise<void> {
    await waitFor(`a viewer saw ${text}`, () => this.text.includes(text));
  }
}

const attach = async (
  session: string,
  more: { readOnly?: boolean; answers?: boolean; cols?: number; rows?: number } = {},
) => new Watcher(await box.open({ kind: "attach", session, cols: 80, rows: 24, readOnly: false, ...more }));

test("who attaches later sees exactly what who was there from the start sees", async () => {
  const script = join(box.workspace, "show.sh");
  await writeFile(
    script,
    `read go
for i in $(seq 1 200); do printf '\\033[3%dmline %d\\033[0m wide 漢字 e\\314\\201\\n' $((i % 8)) $i; done
printf '\\033[1;4mbold\\033[0m\\033[5A\\033[10Cmoved\\033[3B\\r\\n'
read go
printf '\\033[?1049h\\033[2J\\033[3;7Halt \\033[44mblue\\033[0m\\033[?2004h\\033[?1000h\\033[?1006h\\033[?25l\\033[5;10r\\033[6;2Hregion'
printf ' ready-\\055'; read go; printf '\\033[?1049l\\033[r\\033[?25hback-\\055'; read go`,
  );
  await box.link.startSession("exact", terminal("sh", script));
  const first = await attach("exact");
  const step = async (marker: string) => {
    first.stream.write(Buffer.from("go\n"));
    await first.saw(marker);
    const second = await attach("exact");
    await second.saw(marker.slice(0, 4));
    await waitFor("both see the same", async () => (await second.screen()) === (await first.screen()));
    return second;
  };
  await step("moved");
  const second = await step("ready--");
  expect(second.emulator.buffer.active.type).toBe("alternate");
  expect(second.text).toContain("\u001b[?1006h");
  expect(second.text).toContain("\u001b[?25l");
  expect(second.text).toContain("\u001b[5;10r");
  await step("back--");
  second.stream.close();
  first.stream.write(Buffer.from("go\n"));
  expect(await first.closed).toBeUndefined();
});

test("several viewers see the same, each may type unless read-only, and a session outlives them", async () => {
  await box.link.startSession("shared", terminal("cat"));
  const [one, two, reader] = [
    await attach("shared"),
    await attach("shared"),
    await attach("shared", { readOnly: true }),
  ];
  one.stream.write(Buffer.from("from-one\n"));
  two.stream.write(Buffer.from("from-two\n"));
  reader.stream.write(Buffer.from("from-reader\n"));
  for (const viewer of [one, two, reader]) {
    await viewer.saw("from-one");
    await viewer.saw("from-two");
  }
  for (const viewer of [one, two, reader]) viewer.stream.close();
  await waitFor(
    "nobody looks",
    async () => (await box.link.health()).sessions.find((s) => s.id === "shared")!.viewers === 0,
  );
  const again = await attach("shared");
  await again.saw("from-two");
  expect(again.text).not.toContain("from-reader");
  await box.link.signalSession("shared", "KILL");
  await again.closed;
  expect(ended.find((session) => session.id === "shared")).toMatchObject({
    state: "ended",
    signal: "SIGKILL",
  });
});

test("the size is that of whoever came or resized last, and readers do not count", async () => {
  const script = "trap 'stty size' WINCH; stty size; while :; do read x && stty size; done";
  await box.link.startSession("sized", terminal("bash", "-c", script));
  const viewer = await attach("sized", { cols: 100, rows: 30 });
  // A shell that waits for a line runs its traps when the line is there.
  viewer.stream.write(Buffer.from("\n"));
  await viewer.saw("30 100");
  const reader = await attach("sized", { cols: 50, rows: 10, readOnly: true });
  await waitFor("the reader knows the size", () => reader.sizes.join() === "30x100");
  viewer.stream.send({ type: "resize", cols: 120, rows: 40 });
  viewer.stream.write(Buffer.from("\n"));
  await viewer.saw("40 120");
  expect(viewer.text).not.toContain("10 50");
  await waitFor("everybody knows the new size", () => reader.sizes.join() === "30x100,40x120");
  expect(viewer.sizes).toEqual(["30x100", "40x120"]);
  await box.link.signalSession("sized", "KILL");
});

test("the box answers what programs ask their terminal, unless a viewer's terminal does", async () => {
  const ask = `stty raw -echo; while :; do printf '\\033[c'; head -c 7 | tr -d '\\033' | sed 's/^/got:/'; head -c 1; done`;
  await box.link.startSession("asks", terminal("bash", "-c", ask));
  const silent = await attach("asks", { answers: false });
  await attach("asks", { readOnly: true });
  await silent.saw("got:[?1;2c");
  // The control: with a terminal of its own among the viewers, the box leaves the answer to it.
  const own = await attach("asks");
  own.stream.write(Buffer.from("n"));
  await own.saw("\u001b[c");
  own.stream.write(Buffer.from("\u001b[?62c!"));
  await own.saw("got:[?62c");
  expect(silent.text.match(/got:\[\?1;2c/g), "the box has answered once").toHaveLength(1);
  await box.link.signalSession("asks", "KILL");
});

test("an ended session shows its last screen and how it ended", async () => {
  await box.link.startSession("short", terminal("sh", "-c", "echo the last words; exit 4"));
  await waitFor("it has ended", () => ended.some((session) => session.id === "short"));
  const late = await collect(
    await box.open({ kind: "attach", session: "short", cols: 80, rows: 24, readOnly: true }),
  );
  expect(late.stdout).toContain("the last words");
  expect(late.last).toEqual({ type: "exit", code: 4, signal: null, timedOut: false });
});

test("a name is taken while its session runs, and free afterwards", async () => {
  await box.link.startSession("taken", terminal("sleep", "1000"));
  await expect(box.link.startSession("taken", terminal("true"))).rejects.toMatchObject({
    code: "session.exists",
  });
  await box.link.signalSession("taken", "TERM");
  await waitFor("it has ended", () => ended.some((session) => session.id === "taken"));
  await expect(box.link.startSession("taken", terminal("true"))).resolves.toMatchObject({ id: "taken" });
  await expect(box.link.signalSession("nobody", "TERM")).rejects.toMatchObject({ code: "session.not_found" });
  await expect(box.link.startSession("bad", terminal("no-such"))).rejects.toMatchObject({
    code: "exec.not_found",
  });
});

test("a session without a terminal keeps its two channels apart", async () => {
  const spec = { ...terminal("sh", "-c", "echo out; echo err >&2; cat; exit 6"), terminal: false };
  await box.link.startSession("pipes", spec);
  const stream = await box.open({ kind: "attach", session: "pipes", cols: 80, rows: 24, readOnly: false });
  const all = collect(stream);
  stream.write(Buffer.from("typed"));
  stream.endInput();
  expect(await all).toMatchObject({ stdout: "out\ntyped", stderr: "err\n", last: { type: "exit", code: 6 } });
});

test("output is followed from an offset, live, to its end; what is gone is reported", async () => {
  const script = "printf abcdef; read go; head -c 3000000 /dev/zero | tr '\\0' x; printf end";
  await box.link.startSession("followed", { ...terminal("sh", "-c", script), terminal: false });
  const follow = (offset: number) => box.open({ kind: "follow", source: "followed", offset });
  const written = async () =>
    (await box.link.health()).sessions.find(({ id }) => id === "followed")!.outputBytes;
  await waitFor("the beginning is written", async () => (await written()) === 6);
  expect((await collectFirst(await follow(99))).messages).toEqual([{ type: "offset", offset: 0 }]);
  const live = collect(await follow(2));
  const writer = await box.open({ kind: "attach", session: "followed", cols: 80, rows: 24, readOnly: false });
  void collect(writer);
  writer.write(Buffer.from("go\n"));
  await waitFor("it has ended", () => ended.some((session) => session.id === "followed"));
  const whole = await live;
  expect(whole.stdout.startsWith("cdef")).toBe(true);
  expect(whole.last).toEqual({ type: "end", bytes: 3_000_009 });
  const late = await collect(await follow(0));
  const offset = late.messages[0]!;
  expect(offset).toMatchObject({ type: "offset" });
  expect(offset.type === "offset" && offset.offset + late.stdout.length).toBe(3_000_009);
  expect((await collect(await follow(3_000_006))).stdout).toBe("end");
  expect((await collect(await box.open({ kind: "follow", source: "nobody", offset: 0 }))).last).toMatchObject(
    {
      type: "failed",
      code: "session.not_found",
    },
  );
});

async function collectFirst(stream: LinkStream) {
  const all = collect(stream);
  await new Promise<void>((resolve) => stream.onData(() => resolve()));
  stream.close();
  return all;
}

test("a viewer that does not read stops neither the program nor the others, and gets a fresh screen", async () => {
  await box.link.startSession(
    "flood",
    terminal("sh", "-c", "read go; seq 1 1500000; echo fini-\\shed; read go"),
  );
  const stuck = await attach("flood");
  const awake = await attach("flood");
  stuck.stream.pause();
  awake.stream.write(Buffer.from("go\n"));
  await awake.saw("fini-shed");
  stuck.stream.resume();
  await stuck.saw("fini-shed");
  await waitFor("both see the same", async () => (await stuck.screen()) === (await awake.screen()));
  const late = await attach("flood");
  await waitFor("who comes later, too", async () => (await late.screen()) === (await awake.screen()));
  expect(stuck.text.length).toBeLessThan(awake.text.length);
  await box.link.signalSession("flood", "KILL");
});

test("a session survives the host's absence, and boxd comes back by itself", async () => {
  await box.link.startSession("lasting", terminal("sh", "-c", "echo before; sleep 1000"));
  await box.link[Symbol.asyncDispose]();
  expect(lost).toBe(0);
  await box.listenAgain();
  await box.link.waitConnected(10_000);
  expect(connections.map(({ boot }) => boot)).toEqual([connections[0]!.boot, connections[0]!.boot]);
  const viewer = await attach("lasting");
  await viewer.saw("before");
  await waitFor("health is there", () => box.link.lastHealth !== undefined);
  expect(box.link.lastHealth!.sessions.find((session) => session.id === "lasting")).toMatchObject({
    state: "running",
  });
});

test("shutdown ends what runs, answers, and boxd exits with 0", async () => {
  await box.link.shutdown(2_000);
  await waitFor("boxd has ended", () => box.boxd.exitCode !== null);
  expect(box.boxd.exitCode).toBe(0);
  expect(ended.find((session) => session.id === "lasting")).toMatchObject({
    state: "ended",
    signal: "SIGTERM",
  });
  expect(lost).toBe(1);
});
