/** The bounds on a box that never stops sending, at the link itself. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import { encodeFrame, encodeJson, frameKind } from "../../contract/link/codec.ts";
import { FixtureBox, removeBuild } from "./box.fixture.ts";

const violations: string[] = [];
let healths = 0;
let box: FixtureBox;
let control: Socket;
let asked = "";
const sockets: Socket[] = [];

beforeEach(async () => {
  violations.length = 0;
  healths = 0;
  asked = "";
  const listener = { violated: (reason: string) => violations.push(reason), health: () => (healths += 1) };
  box = await FixtureBox.listen({ listener });
  control = await dial();
  control.write(encodeJson({ role: "control", protocol: 1, boot: "b", version: "1" }));
  control.on("data", (chunk: Buffer) => (asked += chunk.toString("latin1")));
  await box.link.waitConnected(5_000);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await box[Symbol.asyncDispose]();
});
afterAll(removeBuild);

async function dial(): Promise<Socket> {
  const socket = connect(box.socketPath).on("error", () => undefined);
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

const health = encodeJson({
  type: "health",
  health: { uptimeMs: 1, idleMs: 0, rssBytes: 1, processes: 1, sessions: [], services: [] },
});

test("messages beyond the rate are not read: they wait in the box", async () => {
  for (let n = 0; n < 500; n += 1) control.write(health);
  await waitFor("the control: as many as an honest box sends at worst are all read", () => healths === 500);
  const before = performance.now();
  for (let n = 0; n < 50_000; n += 1) control.write(health);
  await waitFor("it is on record", () => violations.some((reason) => reason.includes("read slowly")));
  // At 64 a second there cannot be more, however slow this machine is.
  const seconds = (performance.now() - before) / 1_000;
  expect(healths).toBeLessThan(1_100 + 64 * (seconds + 1));
  expect(control.writableLength).toBeGreaterThan(0);
  expect(box.link.isConnected).toBe(true);
});

test("a box that does not read is cut off before the daemon keeps much for it", async () => {
  control.pause();
  const text = "x".repeat(500_000);
  const waiting: Promise<unknown>[] = [];
  for (let n = 0; n < 60 && box.link.isConnected; n += 1) {
    waiting.push(box.link.inputSession("s", text).catch((error: { code: string }) => error.code));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(box.link.isConnected).toBe(false);
  expect(violations.join()).toContain("does not read");
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["box.unreachable"]));
});

test("a box that opens nothing is not asked without end", async () => {
  const op = { kind: "follow", source: "s", offset: 0 } as const;
  const first = box.open(op).catch((error: { code: string }) => error.code);
  await waitFor("the control: it is asked", () => asked.includes('"open"'));
  const more = Array.from({ length: 255 }, () => box.open(op).catch(() => "late"));
  await expect(box.open(op)).rejects.toThrow("has not opened 256 streams");
  control.destroy();
  expect(await first).toBe("box.unreachable");
  await Promise.all(more);
});

test("data in pieces of one byte is read at a bounded pace, and nothing of it is lost", async () => {
  const opening = box.open({ kind: "follow", source: "s", offset: 0 });
  await waitFor("it is asked", () => asked.includes('"open"'));
  const stream = await dial();
  stream.write(encodeJson({ role: "stream", protocol: 1, id: /"id":"([^"]+)"/.exec(asked)![1] }));
  const pieces = 100_000;
  const bytes = Buffer.concat(
    Array.from({ length: pieces }, () => encodeFrame(frameKind.data, Buffer.from("x"))),
  );
  const opened = await opening;
  let got = 0;
  opened.onData((chunk) => (got += chunk.length));
  const before = performance.now();
  stream.write(bytes);
  await waitFor("all of it has come", () => got === pieces, 30_000);
  // 20,000 at once and 50,000 after that; the rest needs time, at 52,000 a second.
  expect(performance.now() - before).toBeGreaterThan(300);
});

test("a box that dials without end is refused by the kernel for a while, and served again", async () => {
  // The control: what an honest program opens at once is all taken.
  for (let n = 0; n < 50; n += 1) await dial();
  let isRefused = false;
  for (let n = 0; n < 20_000 && !isRefused; n += 1) {
    const socket = connect(box.socketPath);
    sockets.push(socket);
    isRefused = await Promise.race([
      once(socket, "connect").then(() => false),
      once(socket, "close").then(() => false),
    ]).catch(() => true);
  }
  expect(isRefused).toBe(true);
  await waitFor("it is on record", () => violations.some((reason) => reason.includes("dials without end")));
  for (const socket of sockets.splice(0)) if (socket !== control) socket.destroy();
  await waitFor("it is served again", async () =>
    dial().then(
      () => true,
      () => false,
    ),
  );
}, 60_000);
