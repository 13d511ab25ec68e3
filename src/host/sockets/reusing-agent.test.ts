import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { ReusingAgent } from "./reusing-agent.ts";
import { mayReuseSocket } from "./socket-use.ts";
import { WireMessage } from "./wire-message.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** A server that sends `answers` to any requests, one after the other. */
async function openWorld(answers: (text: string, peer: Socket) => string | undefined, maxSockets = 8) {
  const peers: Socket[] = [];
  const server = createServer((peer) => {
    peers.push(peer);
    peer.on("error", () => undefined);
    peer.on("data", (chunk) => void peer.write(answers(chunk.toString("latin1"), peer) ?? ""));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  class TestAgent extends ReusingAgent {
    protected override async open(): Promise<Socket> {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      return socket;
    }
  }
  const agent = new TestAgent({ maxSockets, maxFreeSockets: 8 });
  const begin = (headers: string[] = [], method = "GET"): ClientRequest => {
    const request = httpRequest({ agent, method, path: "/", headers: ["Host", "x", ...headers] });
    request.on("error", () => undefined);
    return request;
  };
  return {
    peers,
    agent,
    begin,
    async [Symbol.asyncDispose]() {
      agent.destroy();
      for (const peer of peers) peer.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Resolves when the agent has decided about the socket. */
async function answered(request: ClientRequest): Promise<string> {
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  const closed = once(request, "close");
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += chunk as string;
  await closed;
  return text;
}

async function twice(
  world: Awaited<ReturnType<typeof openWorld>>,
  first: () => ClientRequest,
): Promise<number> {
  await answered(first());
  await answered(world.begin().end());
  return world.peers.length;
}

describe("a socket is used again", () => {
  it("after a whole request and a whole answer", async () => {
    await using world = await openWorld(() => ok);
    expect(await twice(world, () => world.begin().end())).toBe(1);
  });

  it("after a whole body", async () => {
    await using world = await openWorld((text) => (text.endsWith("hello") ? ok : undefined));
    const post = () => world.begin(["Content-Length", "5"], "POST").end("hello");
    await answered(post());
    await answered(post());
    expect(world.peers).toHaveLength(1);
  });
});

describe("a socket is not used again", () => {
  it.each([
    ["bytes after the answer", `${ok}H`],
    ["half an answer more", `${ok}HTTP/1.1 200 OK\r\nContent-Le`],
    [
      "an answer to HTTP/1.0",
      ok.replace("1.1", "1.0").replace("\r\n\r\n", "\r\nConnection: keep-alive\r\n\r\n"),
    ],
  ])("after %s", async (_, said) => {
    await using world = await openWorld(() => said);
    expect(await twice(world, () => world.begin().end())).toBe(2);
  });

  it("after a request that is shorter than it says", async () => {
    await using world = await openWorld(() => ok);
    expect(await twice(world, () => world.begin(["Content-Length", "9"], "POST").end("short"))).toBe(2);
  });

  it("after an answer that was over before its request", async () => {
    await using world = await openWorld(() => ok);
    const early = world.begin(["Content-Length", "5"], "POST");
    early.flushHeaders();
    const [answer] = (await once(early, "response")) as [IncomingMessage];
    await once(answer.resume(), "end");
    const closed = once(early, "close");
    early.end("hello");
    await closed;
    await answered(world.begin().end());
    expect(world.peers).toHaveLength(2);
  });

  it("by a request that waits for a socket", async () => {
    await using world = await openWorld(() => `${ok}H`, 1);
    const answers = [world.begin().end(), world.begin().end(), world.begin().end()].map(answered);
    expect(await Promise.all(answers)).toEqual(["ok", "ok", "ok"]);
    expect(world.peers).toHaveLength(3);
  });

  it("after a server spoke unasked", async () => {
    await using world = await openWorld(() => ok);
    await answered(world.begin().end());
    const gone = once(world.peers[0]!, "close");
    world.peers[0]!.write(ok.replace("ok", "no"));
    await gone;
    expect(await answered(world.begin().end())).toBe("ok");
    expect(world.peers).toHaveLength(2);
  });
});

it("decides by what is whole, in the order in which it became so", () => {
  const sent = new WireMessage();
  const received = new WireMessage(() => sent.method);
  const use = { sent, received, wasAnsweredEarly: false };
  expect(mayReuseSocket(use)).toBe(false);
  sent.read(Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  expect(mayReuseSocket(use)).toBe(false);
  received.read(Buffer.from(ok));
  expect(mayReuseSocket(use)).toBe(true);
  expect(mayReuseSocket({ ...use, wasAnsweredEarly: true })).toBe(false);
});
