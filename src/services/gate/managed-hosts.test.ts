import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { noNetwork } from "../../contract/network/policy.ts";
import {
  ended,
  httpServer,
  openGateFixture,
  readAll,
  rule,
  startTls,
  tcpServer,
  testCa,
} from "./fixtures/gate.fixture.ts";
import { fakeInjection } from "./fixtures/injection.fixture.ts";
import { echo, get, managed, name, ownCa, raw } from "./fixtures/managed-ground.fixture.ts";

describe("a managed host is read, whatever the rules say", () => {
  const hello = (socket: Socket): Promise<unknown> =>
    new Promise((resolve) => socket.once("data", resolve).once("end", () => resolve(undefined)));

  it("and what cannot be read does not pass; elsewhere it does", async () => {
    await using server = await tcpServer((socket) => {
      socket.on("data", () => socket.write("hello")).on("end", () => socket.end());
    });
    const injection = fakeInjection();
    await using fixture = await openGateFixture({ injection });
    fixture.setPolicy(rule(name, server.port));
    const speak = async (via: "tcp" | "proxy", words: string): Promise<unknown> => {
      const socket = await fixture.open(via === "tcp" ? { via, host: name, port: server.port } : { via });
      if (via === "proxy") {
        socket.write(`CONNECT ${name}:${server.port} HTTP/1.1\r\nHost: ${name}:${server.port}\r\n\r\n`);
        await hello(socket);
      }
      socket.write(words);
      const answer = await hello(socket);
      socket.destroy();
      return answer?.toString();
    };
    for (const via of ["tcp", "proxy"] as const) expect(await speak(via, "\0binary\n")).toBe("hello");
    injection.managed.add(`${name}:${server.port}`);
    for (const via of ["tcp", "proxy"] as const) expect(await speak(via, "\0binary\n")).toBeUndefined();
    const denials = fixture.records.filter(({ verdict }) => verdict === "deny");
    expect(denials.map(({ reason }) => reason)).toEqual(["not_http", "not_http"]);
  });

  it("and a program that trusts only the server's own certificate fails", async () => {
    await using world = await managed();
    const pinned = async (): Promise<string> =>
      await raw(await startTls(await world.dial(), name, testCa), get("/"));
    await expect(pinned()).rejects.toThrow();
    await expect(startTls(await world.dial(), "", ownCa(world.fixture))).rejects.toThrow();
    expect(await world.fixture.waitForRecord()).toMatchObject({ reason: "not_inspectable" });
    expect(world.seen).toHaveLength(0);
    world.injection.managed.clear();
    expect(await pinned()).toContain("200 OK");
    expect(world.fixture.records.at(-1)).not.toHaveProperty("secret");
  });

  it("also where a person agreed to the connection, and where it cannot be told", async () => {
    await using world = await managed();
    world.fixture.setPolicy(rule(name, world.server.port, { mode: "ask" }));
    world.fixture.answer = true;
    expect(await raw(await world.open(), get("/"))).toContain("Bearer ***");
    world.injection.manages = () => {
      throw new TypeError("broken");
    };
    world.fixture.setPolicy(rule(name, world.server.port));
    expect(await raw(await world.open(), get("/"))).toContain("Bearer ***");
  });

  it("and a connection that was not read ends when its host becomes managed", async () => {
    await using server = await tcpServer((socket) => {
      socket.resume().on("end", () => socket.end());
      socket.write("hello");
    });
    const injection = fakeInjection();
    await using fixture = await openGateFixture({ injection, limits: { silenceMs: 5 } });
    fixture.answer = true;
    for (const mode of ["allow", "ask"] as const) {
      injection.managed.clear();
      fixture.setPolicy(rule(name, server.port, { mode }));
      const socket = await fixture.open({ via: "tcp", host: name, port: server.port });
      expect(String(await hello(socket))).toBe("hello");
      fixture.gate.closeInjected("amber");
      expect(fixture.records.filter(({ reason }) => reason !== undefined)).toHaveLength(
        mode === "allow" ? 0 : 1,
      );
      injection.managed.add(`${name}:${server.port}`);
      fixture.gate.closeInjected("amber");
      await ended(socket);
      expect(fixture.records.at(-1)).toMatchObject({ reason: "not_inspectable" });
    }
  });

  it("and no credential goes to a request that names another host", async () => {
    await using world = await managed();
    expect(await raw(await world.open(), get("/"))).toContain("200 OK");
    expect(await raw(await world.open(), get("/", "evil.example.org"))).toMatch(/^HTTP\/1\.1 421/);
    await expect(startTls(await world.dial(), "evil.example.org", ownCa(world.fixture))).rejects.toThrow();
    expect(world.fixture.records.map(({ reason }) => reason)).toEqual([
      undefined,
      "name_mismatch",
      "name_mismatch",
    ]);
    expect(world.injection.requests).toHaveLength(1);
    expect(world.seen).toHaveLength(1);
  });

  it("and not when it is called by the address that its name was opened for", async () => {
    await using server = await httpServer(echo);
    const injection = fakeInjection();
    await using fixture = await openGateFixture({
      injection,
      // As core does it: the name of an exception stands for its address.
      decide: (policy, request) => ({
        outcome: "allow",
        host: name,
        rule: policy.rules[0]!,
        mustInspect: false,
        exception: policy.exceptions[0],
        port: request.port,
      }),
    });
    fixture.setWholePolicy({
      ...noNetwork,
      rules: [rule(name, server.port)],
      exceptions: [
        { name, address: "127.0.0.1", port: server.port, reason: "test", origin: { layer: "user" } },
      ],
    });
    const ask = async (host: string): Promise<string> =>
      await raw(
        await fixture.open({ via: "tcp", host, port: server.port }),
        get("/", `${host}:${server.port}`),
      );
    expect(await ask("127.0.0.1")).toContain("200 OK");
    injection.managed.add(`${name}:${server.port}`);
    expect(await ask(name)).toContain("Bearer ***");
    expect(await ask("127.0.0.1")).toMatch(/^HTTP\/1\.1 421/);
  });
});

describe("a connection for keys", () => {
  it("goes to whoever keeps them, and nowhere without them", async () => {
    const served: string[] = [];
    const sshKeys = {
      setBox: () => undefined,
      drop: () => undefined,
      knownHosts: async () => "",
      serve: (box: string, socket: Duplex) => {
        served.push(box);
        socket.end("identities");
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
    await using fixture = await openGateFixture({ sshKeys });
    fixture.setPolicy();
    expect(await readAll(await fixture.open({ via: "ssh-agent" }))).toBe("identities");
    expect(served).toEqual(["amber"]);
    await using without = await openGateFixture();
    without.setPolicy();
    expect(await readAll(await without.open({ via: "ssh-agent" }))).toBe("");
  });
});
