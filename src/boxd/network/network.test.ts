import { encode, decode } from "dns-packet";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decodeJson, FrameReader } from "../../contract/link/codec.ts";
import { Forwarders } from "./forwarders.ts";
import { GateDialer } from "./gate-dial.ts";
import { type BoxNetwork, openNetwork } from "./index.ts";
import { NameTable } from "./name-table.ts";

interface Taken {
  readonly hello: Record<string, unknown>;
  readonly socket: Socket;
}

/** The host's end: reads the hello and leaves the rest to the test. */
class FakeHost {
  readonly taken: Taken[] = [];
  readonly server: Server;
  #wake: () => void = () => undefined;

  constructor(path: string) {
    this.server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => undefined);
      const onReadable = () => {
        const head = socket.read(4) as Buffer | null;
        if (!head) return;
        const rest = socket.read(head.readUInt32BE(0)) as Buffer;
        socket.off("readable", onReadable);
        const [frame] = new FrameReader().push(Buffer.concat([head, rest]));
        this.taken.push({ hello: decodeJson(frame!.payload) as Record<string, unknown>, socket });
        this.#wake();
      };
      socket.on("readable", onReadable);
    });
    this.server.listen(path);
  }

  async next(): Promise<Taken> {
    while (this.taken.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.taken.shift()!;
  }
}

/** A port that is free at every address now. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

let dir: string;
let linkSocket: string;
let host: FakeHost;
let port: number;
const open: Socket[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "agentbox-net-"));
  linkSocket = join(dir, "link.sock");
  host = new FakeHost(linkSocket);
  port = await freePort();
});
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  for (const { socket } of host.taken) socket.destroy();
  host.server.close();
  await rm(dir, { recursive: true });
});

function dialling(address: string, to = port): Socket {
  const socket = connect({ host: address, port: to, allowHalfOpen: true });
  open.push(socket);
  socket.on("error", () => undefined);
  return socket;
}

async function dial(address: string, to = port): Promise<Socket> {
  const socket = dialling(address, to);
  await once(socket, "connect");
  return socket;
}

/** Ended or cut off: both are an end. */
const isOver = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.on("close", () => resolve());
    socket.on("end", () => socket.destroy());
    socket.resume();
  });

const refusal = (address: string, to = port): Promise<string | undefined> =>
  dial(address, to).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );

async function textOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(socket, "end");
  return Buffer.concat(chunks).toString();
}

describe("a box's network", () => {
  let network: BoxNetwork;
  beforeEach(async () => {
    network = await openNetwork({ ports: [port], hostname: "b", linkSocket, dnsPort: 0, proxyPort: 0 });
  });
  afterEach(() => network.close());

  async function resolve(name: string): Promise<string> {
    const socket = createSocket("udp4");
    socket.send(
      encode({ type: "query", id: 1, questions: [{ name, type: "A" }] }),
      network.udpPort,
      "127.0.0.1",
    );
    const [reply] = (await once(socket, "message")) as [Buffer];
    socket.close();
    return (decode(reply).answers![0] as { data: string }).data;
  }

  test("a name that was asked for can be connected to at once, and the host learns which it was", async () => {
    const [one, other] = [await resolve("one.test"), await resolve("Other.TEST")];
    const client = await dial(other);
    client.end("hello");
    const { hello, socket } = await host.next();
    expect(hello).toMatchObject({ role: "gate", protocol: 1, via: "tcp", host: "other.test", port });
    expect(await textOf(socket)).toBe("hello");
    // The program has said everything; the answer still comes.
    socket.end("world");
    expect(await textOf(client)).toBe("world");
    await dial(one);
    const next = await host.next();
    expect(next.hello).toMatchObject({ host: "one.test" });
    next.socket.destroy();
  });

  test("the proxy port leads to the same host", async () => {
    const client = await dial("127.0.0.1", network.proxyPort);
    client.write("CONNECT x:443 HTTP/1.1\r\n\r\n");
    const { hello, socket } = await host.next();
    expect(hello).toMatchObject({ role: "gate", via: "proxy" });
    expect(hello).not.toHaveProperty("host");
    socket.destroy();
  });

  test("an address that stands for no name takes nothing", async () => {
    const address = await resolve("one.test");
    // The control.
    expect(await refusal(address)).toBeUndefined();
    (await host.next()).socket.destroy();
    expect(await refusal("127.64.9.9")).toBe("ECONNREFUSED");
    expect(await refusal("127.0.0.1")).toBe("ECONNREFUSED");
    expect(host.taken).toEqual([]);
  });

  test("the box's own server has the same port on localhost, before and after", async () => {
    const address = await resolve("one.test");
    const own = createServer((socket) => socket.end("own"));
    own.listen(port, "127.0.0.1");
    await once(own, "listening");
    expect(await textOf(await dial("127.0.0.1"))).toBe("own");
    await resolve("two.test");
    await dial(address);
    const { hello, socket } = await host.next();
    expect(hello).toMatchObject({ host: "one.test" });
    socket.destroy();
    own.close();
  });

  test("a host that is away, goes away or cuts off ends the program's connection", async () => {
    const address = await resolve("one.test");
    const cut = await dial(address);
    cut.write("x");
    (await host.next()).socket.destroy();
    await isOver(cut);
    host.server.close();
    await rm(linkSocket, { force: true });
    const late = dialling(address);
    await isOver(late);
    expect([cut.bytesRead, late.bytesRead]).toEqual([0, 0]);
  });
});

describe("limits", () => {
  const nobody = { find: () => undefined };

  test("names beyond what is listened for take the oldest's place, and get theirs back when asked for", async () => {
    const names = new NameTable();
    const forwarders = new Forwarders([port], names, new GateDialer(linkSocket, nobody), 2);
    const addresses = [];
    for (const name of ["a.test", "b.test", "c.test"]) addresses.push((await forwarders.ready(name))!);
    expect(forwarders.names).toBe(2);
    expect(await refusal(addresses[0]!)).toBe("ECONNREFUSED");
    expect(await refusal(addresses[2]!)).toBeUndefined();
    expect(await forwarders.ready("a.test")).toBe(addresses[0]);
    expect(await refusal(addresses[0]!)).toBeUndefined();
    // Many at once for one name are one listener.
    await Promise.all(Array.from({ length: 50 }, () => forwarders.ready("d.test")));
    expect(forwarders.names).toBe(2);
    for (let i = 0; i < 3; i++) if (host.taken.length > 0) (await host.next()).socket.destroy();
    forwarders.close();
  });

  test("a port that a server of the box has everywhere is left to it, the others work", async () => {
    const own = createServer();
    own.listen(port, "0.0.0.0");
    await once(own, "listening");
    const second = await freePort();
    const forwarders = new Forwarders([port, second], new NameTable(), new GateDialer(linkSocket, nobody));
    const address = (await forwarders.ready("a.test"))!;
    await dial(address, second);
    const { hello, socket } = await host.next();
    expect(hello).toMatchObject({ port: second });
    socket.destroy();
    own.close();
    await once(own, "close");
    // Once it is free, the next question takes it.
    await forwarders.ready("a.test");
    expect(await refusal(address)).toBeUndefined();
    (await host.next()).socket.destroy();
    forwarders.close();
  });

  test("so many connections and no more, and a place is free again when one is over", async () => {
    const dialer = new GateDialer(linkSocket, nobody, 40);
    const forwarders = new Forwarders([port], new NameTable(), dialer);
    const address = (await forwarders.ready("a.test"))!;
    const clients = await Promise.all(Array.from({ length: 40 }, () => dial(address)));
    const taken = [];
    for (const _ of clients) taken.push(await host.next());
    await isOver(dialling(address));
    expect(dialer.open).toBe(40);
    expect(host.taken).toEqual([]);
    clients[0]!.end();
    taken[0]!.socket.resume().end();
    await once(clients[0]!.resume(), "close");
    await dial(address);
    taken.push(await host.next());
    for (const { socket } of taken) socket.destroy();
    forwarders.close();
  });

  test("a program that does not read holds the host back", async () => {
    const forwarders = new Forwarders([port], new NameTable(), new GateDialer(linkSocket, nobody));
    const address = (await forwarders.ready("a.test"))!;
    const client = await dial(address);
    client.pause();
    const { socket } = await host.next();
    const chunk = Buffer.alloc(1 << 20);
    let sent = 0;
    while (sent < 200 && socket.write(chunk)) sent += 1;
    // The kernel's buffers and ours are full long before everything is sent.
    const stuck = socket.writableLength;
    expect(stuck).toBeGreaterThan(0);
    client.resume();
    await once(socket, "drain");
    socket.destroy();
    forwarders.close();
  });
});
