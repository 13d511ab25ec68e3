/**
 * Found by attack: what a policy no longer allows stayed open. A WebSocket outlived the rule for its path, and a
 * connection whose first bytes the program held back was joined by the policy it had begun under.
 */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { deferred } from "../../src/base/deferred.ts";
import { waitFor } from "../../src/base/wait-for.ts";
import {
  ended,
  httpServer,
  openGateFixture,
  rule,
  tcpServer,
} from "../../src/services/gate/fixtures/gate.fixture.ts";

const name = "api.example.org";

describe("a policy that is taken back", () => {
  it.each([
    { way: "directly", isProxy: false },
    { way: "through the proxy", isProxy: true },
  ])("ends a WebSocket whose path it no longer allows, $way", async ({ isProxy }) => {
    await using server = await httpServer(() => undefined);
    const heard: string[] = [];
    new WebSocketServer({ server: server.server as never }).on("connection", (peer) =>
      peer
        .on("message", (message) => {
          heard.push((message as Buffer).toString());
          peer.send("heard");
        })
        .on("close", () => heard.push("closed")),
    );
    await using fixture = await openGateFixture();
    fixture.setPolicy(rule(name, server.port, { paths: ["/ws"] }));
    const socket = await fixture.open(
      isProxy ? { via: "proxy" } : { via: "tcp", host: name, port: server.port },
    );
    const target = isProxy ? `http://${name}:${server.port}/ws` : "/ws";
    const program = new WebSocket(`ws://${name}:${server.port}/ws`, {
      createConnection: () => socket,
      finishRequest: (request) => {
        request.path = target;
        request.end();
      },
    });
    program.on("error", () => undefined);
    await once(program, "open");
    // The control: while it is allowed, it speaks.
    program.send("before");
    await once(program, "message");

    const closed = once(program, "close");
    fixture.setPolicy(rule(name, server.port, { paths: ["/other"] }));
    await closed;
    await waitFor("the connection is closed", () => heard.includes("closed"));
    expect(heard).toEqual(["before", "closed"]);
    expect(fixture.records).toEqual([expect.objectContaining({ verdict: "deny", reason: "wrong_path" })]);
  });

  it("does not join a connection that began before and is made after", async () => {
    const heard: string[] = [];
    await using server = await tcpServer((peer) => {
      peer.on("data", (chunk) => heard.push(chunk.toString())).on("end", () => peer.end());
    });
    // The program holds its connection in the middle of being made: its name server answers when it likes.
    const held = deferred<void>();
    const asked = deferred<void>();
    await using fixture = await openGateFixture({
      resolve: async (host) => {
        if (host !== name) return ["127.0.0.1"];
        asked.resolve();
        await held.promise;
        return ["127.0.0.1"];
      },
    });
    const control = "control.example.org";
    fixture.setPolicy(rule(name, server.port), rule(control, server.port));
    const speak = async (host: string) => {
      const socket = await fixture.open({ via: "tcp", host, port: server.port });
      socket.end("SSH-2.0-test\r\n");
      return socket;
    };
    await ended(await speak(control));
    expect(heard.join("")).toBe("SSH-2.0-test\r\n");
    await fixture.waitForRecord(({ verdict }) => verdict === "allow");

    heard.length = 0;
    const socket = await speak(name);
    await asked.promise;
    fixture.setPolicy();
    held.resolve();
    await ended(socket);
    await fixture.waitForRecord(({ verdict, reason }) => verdict === "deny" && reason === "no_rule");
    expect(heard).toEqual([]);
  });
});
