import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import { encodeJson } from "../../contract/link/codec.ts";
import type { GateConnection } from "../../ports/gate.ts";
import { FixtureBox, removeBuild } from "./box.fixture.ts";

const violations: string[] = [];
const taken: GateConnection[] = [];
let box: FixtureBox;
let take: (connection: GateConnection) => void;
beforeEach(async () => {
  violations.length = 0;
  taken.length = 0;
  take = () => undefined;
  box = await FixtureBox.listen({
    listener: {
      violated: (reason) => violations.push(reason),
      gate: (connection) => {
        taken.push(connection);
        take(connection);
      },
    },
  });
});
afterEach(() => box[Symbol.asyncDispose]());
afterAll(removeBuild);

async function dial(): Promise<Socket> {
  const socket = connect({ path: box.socketPath, allowHalfOpen: true });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** Everything up to the other side's end; its own side stays open. */
function textOf(stream: Duplex): Promise<string> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return once(stream, "end").then(() => Buffer.concat(chunks).toString());
}

const hello = (more: object = {}) =>
  encodeJson({ role: "gate", protocol: 1, via: "tcp", host: "example.org", port: 443, ...more });
const proxyHello = encodeJson({ role: "gate", protocol: 1, via: "proxy" });

describe("what follows the hello is the program's own", () => {
  const bytes = Buffer.from("GET / HTTP/1.1\r\n\r\n\u0000\u0001");

  test.each([
    [
      "in the same write",
      (socket: Socket) => void socket.end(Buffer.concat([hello({ program: "curl" }), bytes])),
    ],
    [
      "byte by byte",
      async (socket: Socket) => {
        for (const byte of Buffer.concat([hello({ program: "curl" }), bytes])) {
          socket.write(Buffer.from([byte]));
          await new Promise((resolve) => setImmediate(resolve));
        }
        socket.end();
      },
    ],
  ])("%s", async (_, send) => {
    // Taken late, as by a gate that asks a person first.
    const received = new Promise<string>((resolve) => {
      take = ({ socket }) => void setTimeout(() => resolve(textOf(socket)), 20);
    });
    const socket = await dial();
    await send(socket);
    expect(await received).toBe(bytes.toString());
    expect(taken).toMatchObject([{ via: "tcp", host: "example.org", port: 443, program: "curl" }]);
    // The box has said everything; the answer still arrives.
    taken[0]!.socket.end("an answer");
    expect(await textOf(socket)).toBe("an answer");
    expect(violations).toEqual([]);
  });

  test("much of it, at the pace of who takes it", async () => {
    const megabyte = Buffer.alloc(1 << 20, "x");
    take = ({ socket }) => socket.pipe(socket);
    const socket = await dial();
    socket.write(proxyHello);
    let count = 0;
    socket.on("data", (chunk: Buffer) => (count += chunk.length));
    for (let sent = 0; sent < 8; sent++) socket.write(megabyte);
    socket.end();
    await once(socket, "end");
    expect(count).toBe(8 << 20);
    expect(taken).toMatchObject([{ via: "proxy", host: undefined, port: undefined }]);
  });
});

describe("an invalid hello costs the connection", () => {
  test.each(
    Object.entries({
      "a host that is too long": hello({ host: "x".repeat(256) }),
      "port 0": hello({ port: 0 }),
      "a port beyond all": hello({ port: 65_536 }),
      "half a port": hello({ port: 1.5 }),
      "a port as text": hello({ port: "443" }),
      "no host": hello({ host: undefined }),
      "no port": hello({ port: undefined }),
      "a proxy with a host": hello({ via: "proxy" }),
      "an agent with a host": hello({ via: "ssh-agent" }),
      "one key too many": hello({ allow: true }),
      "another way": hello({ via: "udp" }),
      "a program that is too long": hello({ program: "x".repeat(65) }),
      "another protocol": hello({ protocol: 2 }),
      "more than a hello can be": hello({ host: "x".repeat(5000) }),
    }),
  )("%s", async (_, bytes) => {
    const socket = await dial();
    socket.write(bytes);
    socket.resume();
    await once(socket, "end");
    socket.destroy();
    await waitFor("it is reported", () => violations.length > 0);
    expect(taken).toEqual([]);
    // The control: a good one on the same link.
    const good = await dial();
    good.write(hello());
    await waitFor("it is taken", () => taken.length === 1);
    good.destroy();
  });
});

test("a box with all its ways out in use can still be spoken to, and none is free until one is closed", async () => {
  await box.boot();
  await box.link.waitConnected(5_000);
  // All at once: those that have said what they are for are not taken for silent ones.
  const sockets = await Promise.all(
    Array.from({ length: 512 }, async () => {
      const socket = connect(box.socketPath);
      socket.on("error", () => undefined);
      socket.write(hello());
      await once(socket, "connect");
      return socket;
    }),
  );
  await waitFor("all are taken", () => taken.length === 512);
  const late = await dial();
  late.write(hello());
  late.resume();
  await once(late, "end");
  late.destroy();
  expect(taken).toHaveLength(512);
  await waitFor("it is reported", () => violations.join().includes("too many ways out"));
  expect((await box.exec(["echo", "fine"])).stdout).toBe("fine\n");

  sockets[0]!.destroy();
  taken[0]!.socket.destroy();
  await once(taken[0]!.socket, "close");
  const next = await dial();
  next.write(hello());
  await waitFor("it has the free place", () => taken.length === 513);
  next.destroy();

  // Open streams are closed with the link.
  const closed = once(sockets[1]!.resume(), "close");
  await box.link.shutdown(200);
  await box.link[Symbol.asyncDispose]();
  await closed;
  for (const socket of sockets) socket.destroy();
});

test("without a gate a way out is closed", async () => {
  await using closed = await FixtureBox.listen({ listener: {} });
  const socket = connect(closed.socketPath);
  socket.write(hello());
  let got = "";
  socket.on("data", (chunk: Buffer) => (got += chunk.toString()));
  await once(socket, "end");
  expect(got).toBe("");
});
