/**
 * Found by attack: a box that speaks on its own link in boxd's place sent messages without end. The daemon read and
 * obeyed all of them: its answers to all others took a thousand times as long, and it grew by a gigabyte.
 */
import { readFileSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { whyNoBoxes } from "../support/test-runtime.ts";
import { emptyBox, eventsOf, inBox } from "./attack.ts";
import { type Flood, floodArgv, floodMark, takesOver } from "./flooding-box.ts";

const mib = 2 ** 20;
const floods: readonly Flood[] = [
  ...(["health", "large", "events", "output", "output"] as const),
  ...(["nonsense", "silence", "gate", "requests", "handshakes"] as const),
];
const boxes = floods.map((flood, n) => ({ name: `flood-${n}`, flood }));
/** Requests to what lies below it are read. */
const network = { rules: [{ host: "*.inspected.example", methods: ["GET"] }] };
const rounds = 7;
const callsARound = 300;
/** On an idle machine the slowest of a hundred calls takes two milliseconds, of which a multiple says nothing. */
const leastMs = 10;

let daemon: TestDaemon;
let missing: string | undefined;
beforeAll(async () => {
  missing = await whyNoBoxes();
  if (missing === undefined) daemon = await startDaemon();
});
afterAll(() => daemon?.[Symbol.asyncDispose]());

const rssBytes = (): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))?.[1]) * 1024;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

const start = (box: string, session: string, argv: string[]) =>
  daemon.client.startSession(box, { session, spec: { argv, terminal: false, cols: 80, rows: 24 } });

/** To the programs in the boxes, from outside: the daemon has no part in it. */
function signalFloods(signal: NodeJS.Signals): void {
  const mark = floodMark(daemon.home);
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandOf(name).includes(mark));
  expect(pids.length).toBe(boxes.length);
  for (const pid of pids) process.kill(Number(pid), signal);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** The slowest but one of a hundred calls. */
async function p99(): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < callsARound; n += 1) {
    const began = performance.now();
    await daemon.client.listBoxes();
    took.push(performance.now() - began);
  }
  return took.toSorted((a, b) => a - b)[Math.floor(callsARound * 0.99)]!;
}

it("ten boxes that flood their links are a bother to nobody else", async (ctx) => {
  ctx.skip(missing !== undefined, missing);
  await Promise.all(boxes.map(({ name }) => emptyBox(daemon, name, { network })));
  await emptyBox(daemon, "bystander");
  // The control: each of them can be spoken to, as long as it is what it was made as.
  for (const { name } of boxes) expect((await inBox(daemon, name, ["echo", "fine"])).stdout).toBe("fine\n");
  await p99();
  const before = rssBytes();
  const logBefore = daemon.log().length;

  for (const { name } of boxes) await start(name, "ended", ["true"]);
  for (const { name } of boxes)
    await waitFor("it has ended", async () => (await eventsOf(daemon, "session.ended", name)).length > 0);
  for (const { name, flood } of boxes) await start(name, "flood", floodArgv(flood, daemon.home));
  // The attack is what it claims to be: the host has taken the programs for the supervisors of their boxes.
  for (const { name } of boxes.filter(({ flood }) => takesOver(flood)))
    await waitFor(
      `${name} has taken over its link`,
      async () =>
        (await eventsOf(daemon, "link.connected", name)).some(({ data }) => data["boot"] === "hostile"),
      60_000,
    );

  // In turns, because the machine is not equally busy all the time.
  const [alone, attacked]: [number[], number[]] = [[], []];
  let most = 0;
  for (let round = 0; round < rounds; round += 1) {
    signalFloods("SIGSTOP");
    alone.push(await p99());
    signalFloods("SIGCONT");
    attacked.push(await p99());
    most = Math.max(most, rssBytes());
  }
  const measured = JSON.stringify({ alone, attacked, growth: (most - before) / mib });
  expect(median(attacked), measured).toBeLessThan(3 * Math.max(median(alone), leastMs));
  expect(most - before, measured).toBeLessThan(200 * mib);
  expect((await inBox(daemon, "bystander", ["echo", "fine"])).stdout).toBe("fine\n");

  // Each one's violations are on record, and they can fill neither the record nor the log.
  for (const { name, flood } of boxes) {
    if (["output", "gate", "requests", "handshakes"].includes(flood)) continue;
    const events = await eventsOf(daemon, "link.violated", name);
    expect(events.length, name).toBeGreaterThan(0);
    expect(events.length, name).toBeLessThan(40);
  }
  expect(JSON.stringify(await eventsOf(daemon, "link.violated", "flood-0"))).toContain("read slowly");
  expect(daemon.log().length - logBefore).toBeLessThan(64 * 1024);
}, 400_000);
