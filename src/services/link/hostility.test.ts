import fc from "fast-check";
import { once } from "node:events";
import { lstat, mkdtemp, readFile, rm, symlink, mkdir, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, afterEach, describe, expect, test } from "vitest";
import type { Clock } from "../../base/clock.ts";
import { waitFor } from "../../base/wait-for.ts";
import { encodeFrame, encodeJson, frameKind, maxFrameBytes } from "../../contract/link/codec.ts";
import { systemClock, systemIds } from "../../host/clock.ts";
import { silentLogger } from "../../host/logger.ts";
import type { BoxLink, LinkListener } from "../../ports/link.ts";
import { collect, FixtureBox, removeBuild } from "./box.fixture.ts";
import { openLinks, streamFailure } from "./index.ts";

const violations: string[] = [];
let box: FixtureBox;
beforeEach(async () => {
  violations.length = 0;
  box = await FixtureBox.listen({ listener: { violated: (reason) => violations.push(reason) } });
});
afterEach(async () => {
  await box[Symbol.asyncDispose]();
});
afterAll(removeBuild);

async function dial(path = box.socketPath): Promise<Socket> {
  const socket = connect(path);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Sends bytes and waits until the host has closed the connection. */
async function sendUntilClosed(...bytes: Uint8Array[]): Promise<string> {
  const socket = await dial();
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
  for (const part of bytes) socket.write(part);
  await once(socket, "close");
  return answer;
}

async function goodBoxdStillWorks(): Promise<void> {
  if (!box.boxd) await box.boot();
  await box.link.waitConnected(5_000);
  expect((await box.exec(["echo", "fine"])).stdout).toBe("fine\n");
}

const hello = (more: object = {}) =>
  encodeJson({ role: "control", protocol: 1, boot: "b", version: "1", ...more });
const length = (bytes: number) => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes);
  return head;
};

describe("a first frame that is no hello costs the connection and nothing else", () => {
  const corpus: Record<string, Uint8Array> = {
    "a huge length": length(0xffff_ffff),
    "a length just over the limit": length(maxFrameBytes + 1),
    "no length": length(0),
    "an unknown kind": Buffer.from([0, 0, 0, 2, 9, 0]),
    "a data frame": encodeFrame(frameKind.data, Buffer.from("x")),
    "bad JSON": encodeFrame(frameKind.json, Buffer.from("{")),
    "bad UTF-8": encodeFrame(frameKind.json, Buffer.from([0xff, 0xfe])),
    "another schema": encodeJson({ role: "admin", protocol: 1 }),
    "one key too many": hello({ extra: true }),
    "a prototype": encodeFrame(frameKind.json, Buffer.from('{"__proto__":{"role":"control"}}')),
    "an unknown stream id": encodeJson({ role: "stream", protocol: 1, id: "guessed" }),
    HTTP: Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
  };
  test.each(Object.entries(corpus))("%s", async (_, bytes) => {
    await sendUntilClosed(bytes);
    await waitFor("it is reported", () => violations.length > 0);
    await goodBoxdStillWorks();
  });
});

test("random bytes, in any pieces, harm nothing", async () => {
  await box.boot();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }), async (pieces) => {
      const socket = await dial();
      for (const piece of pieces) socket.write(piece);
      socket.end();
      await once(socket.resume(), "close");
    }),
    { numRuns: 200 },
  );
  await goodBoxdStillWorks();
});

test("a second control connection is refused while the first lives", async () => {
  await goodBoxdStillWorks();
  expect(await sendUntilClosed(hello())).toContain("refused");
  await goodBoxdStillWorks();
  expect(violations.join()).toContain("second control");
});

test("another protocol version is refused, the right one is welcome", async () => {
  expect(await sendUntilClosed(hello({ protocol: 99 }))).toContain("refused");
  const socket = await dial();
  socket.write(hello());
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toContain("welcome");
  socket.destroy();
});

test("random messages on the control connection end it, and boxd can take the place afterwards", async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (json) => {
      const closed = sendUntilClosed(hello(), encodeFrame(frameKind.json, Buffer.from(json)));
      await closed;
      await waitFor("the place is free", () => !box.link.isConnected);
    }),
    { numRuns: 30 },
  );
  await goodBoxdStillWorks();
});

describe("a box that is not boxd", () => {
  let control: Socket;
  let requests: Record<string, unknown>[];
  beforeEach(async () => {
    requests = [];
    control = await dial();
    control.write(hello());
    control.on("data", (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; at += 4 + chunk.readUInt32BE(at)) {
        requests.push(
          JSON.parse(chunk.subarray(at + 5, at + 4 + chunk.readUInt32BE(at)).toString()) as never,
        );
      }
    });
    await box.link.waitConnected(5_000);
  });
  const request = async (type: string) => {
    await waitFor(`a ${type}`, () => requests.some((one) => one["type"] === type));
    return requests.find((one) => one["type"] === type)!;
  };

  test("answers to nothing are ignored, a wrong answer cuts it off", async () => {
    control.write(encodeJson({ type: "response", id: 12_345, result: {} }));
    const health = box.link.health();
    const { id } = await request("request");
    control.write(encodeJson({ type: "response", id, result: { uptimeMs: "long" } }));
    await expect(health).rejects.toMatchObject({ code: "link.violation" });
    await waitFor("it is cut off", () => !box.link.isConnected);
    await goodBoxdStillWorks();
  });

  test("a one-time id works once", async () => {
    const opening = box.open({ kind: "exec", argv: ["x"], env: {} });
    const { id } = await request("open");
    const stream = await dial();
    stream.write(encodeJson({ role: "stream", protocol: 1, id }));
    const all = collect(await opening);
    await sendUntilClosed(encodeJson({ role: "stream", protocol: 1, id }));
    stream.end(encodeJson({ type: "exit", code: 0, signal: null, timedOut: false }));
    expect(await all).toMatchObject({ last: { type: "exit" }, error: undefined });
    expect(violations.join()).toContain("not asked for");
  });

  test("a stream that breaks the protocol, or off, is an error for its listener only", async () => {
    for (const [bytes, code] of [
      [encodeJson({ type: "exit", code: "zero" }), "link.violation"],
      [encodeFrame(frameKind.json, Buffer.from("nonsense")), "link.violation"],
      [length(0xffff_ffff), "link.violation"],
      [encodeJson({ type: "started" }), "box.unreachable"],
    ] as const) {
      requests.length = 0;
      const opening = box.open({ kind: "exec", argv: ["x"], env: {} });
      const { id } = await request("open");
      const stream = await dial();
      stream.write(encodeJson({ role: "stream", protocol: 1, id }));
      stream.end(bytes);
      expect((await collect(await opening)).error).toMatchObject({ code });
    }
    expect(box.link.isConnected).toBe(true);
  });

  test("what does not fit into a frame is an error and is not sent", async () => {
    const argv = ["x".repeat(maxFrameBytes)];
    await expect(box.open({ kind: "exec", argv, env: {} })).rejects.toMatchObject({
      code: "input.too_large",
    });
    expect(box.link.isConnected).toBe(true);
  });
});

/** Time that passes when the test says so. */
class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ atMs: number; callback: () => void }>();

  nowMs = () => this.#now;
  monotonicMs = () => this.#now;

  after(ms: number, callback: () => void): () => void {
    const timer = { atMs: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.atMs > this.#now || !this.#timers.delete(timer)) continue;
      timer.callback();
    }
  }
}

describe("time", () => {
  let clock: ManualClock;
  let dir: string;
  let link: BoxLink;
  let lost: number;
  const said: string[] = [];
  const listener: LinkListener = { lost: () => (lost += 1), violated: (reason) => said.push(reason) };
  beforeEach(async () => {
    clock = new ManualClock();
    lost = 0;
    said.length = 0;
    dir = await mkdtemp(join(tmpdir(), "agentbox-time-"));
    const links = openLinks({ ids: systemIds, clock, logger: silentLogger });
    const config = { protocol: 1, box: "b", hostname: "b", workspace: "/", env: {}, services: [] };
    link = await links.listen({
      linkDir: dir,
      owner: { uid: process.getuid!(), gid: process.getgid!() },
      config,
      listener,
    });
  });
  afterEach(async () => {
    await link[Symbol.asyncDispose]();
    await rm(dir, { recursive: true });
  });
  const path = () => join(dir, "link.sock");

  test("who says nothing for five seconds is cut off, and many of them cannot keep boxd out", async () => {
    const silent = await Promise.all(Array.from({ length: 64 }, () => dial(path())));
    const closed = silent.map((socket) => once(socket, "close"));
    // The 65th finds no slot among those that have not said what they are.
    await once(await dial(path()), "close");
    expect(said.join()).toContain("too many");
    clock.advance(5_000);
    await Promise.all(closed);
    const socket = await dial(path());
    socket.write(hello());
    await waitFor("boxd has its place", () => link.isConnected);
    socket.destroy();
    clock.advance(1_000);
    expect(said.length).toBeLessThanOrEqual(3);
    expect(said.join()).toContain("63 times");
  });

  test("a silent control connection is lost after twenty seconds, unless the box is paused", async () => {
    const socket = await dial(path());
    socket.write(hello());
    await waitFor("it is connected", () => link.isConnected);
    link.setPaused(true);
    clock.advance(1_000_000);
    expect(link.isConnected).toBe(true);
    link.setPaused(false);
    clock.advance(19_000);
    expect(link.isConnected).toBe(true);
    clock.advance(2_000);
    await waitFor("it is lost", () => lost === 1);
  });

  test("requests and streams that are never answered time out", async () => {
    const socket = await dial(path());
    socket.write(hello());
    await waitFor("it is connected", () => link.isConnected);
    link.setPaused(true);
    const waiting = [link.health(), link.open({ kind: "exec", argv: ["x"], env: {} })];
    clock.advance(10_000);
    for (const one of waiting) await expect(one).rejects.toMatchObject({ code: "box.unreachable" });
    const never = link.shutdown(60_000);
    clock.advance(64_000);
    clock.advance(1_000);
    await expect(never).rejects.toMatchObject({ code: "box.unreachable" });
  });
});

test("the socket and the config have the modes they must have, and a stale socket is replaced", async () => {
  expect((await lstat(box.socketPath)).mode & 0o777).toBe(0o600);
  const config = join(box.linkDir, "box.json");
  expect((await lstat(config)).mode & 0o777).toBe(0o400);
  expect(JSON.parse(await readFile(config, "utf8"))).toMatchObject({ box: "test-box" });

  await box.link[Symbol.asyncDispose]();
  const precious = join(box.dir, "precious");
  await writeFile(precious, "kept");
  await symlink(precious, box.socketPath);
  await box.listenAgain();
  expect((await lstat(box.socketPath)).isSocket()).toBe(true);
  expect(await readFile(precious, "utf8")).toBe("kept");
  await goodBoxdStillWorks();
});

test("a root daemon gives the socket to the box's user", { skip: process.getuid!() !== 0 }, async () => {
  const linkDir = join(box.dir, "owned");
  await mkdir(linkDir);
  const links = openLinks({ ids: systemIds, clock: systemClock, logger: silentLogger });
  const config = { protocol: 1, box: "b", hostname: "b", workspace: "/", env: {}, services: [] };
  await using link = await links.listen({ linkDir, owner: { uid: 1000, gid: 1000 }, config, listener: {} });
  expect(await lstat(join(linkDir, "link.sock"))).toMatchObject({ uid: 1000, gid: 1000 });
  expect(link.isConnected).toBe(false);
  await expect(link.waitConnected(10)).rejects.toMatchObject({ code: "box.unreachable" });
  await expect(link.health()).rejects.toMatchObject({ code: "box.unreachable" });
});

test("a path that is too long for a socket says so", async () => {
  const linkDir = join(box.dir, "x".repeat(100));
  await mkdir(linkDir);
  const links = openLinks({ ids: systemIds, clock: systemClock, logger: silentLogger });
  const config = { protocol: 1, box: "b", hostname: "b", workspace: "/", env: {}, services: [] };
  const owner = { uid: 0, gid: 0 };
  await expect(links.listen({ linkDir, owner, config, listener: {} })).rejects.toMatchObject({
    code: "link.path_too_long",
  });
});

test("boxd's failures become errors of the table, in words that are safe to print", () => {
  expect(streamFailure({ code: "exec.not_found", message: "no" })).toMatchObject({ code: "exec.not_found" });
  const odd = streamFailure({ code: "toString", message: "a\u001b[2Jb" });
  expect(odd).toMatchObject({ code: "box.unreachable" });
  expect(odd.message).not.toContain("\u001b");
});
