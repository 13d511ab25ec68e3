import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../../base/wait-for.ts";
import {
  ended,
  httpServer,
  httpsServer,
  openGateFixture,
  readAll,
  rule,
  startTls,
  tcpServer,
  testCa,
} from "../fixtures/gate.fixture.ts";

const echo = () => tcpServer((socket) => void socket.pipe(socket));

it("joins a program and an allowed server, keeps the half-close and records the bytes", async () => {
  await using server = await echo();
  await using fixture = await openGateFixture();
  fixture.setPolicy(rule("echo.example.org", server.port));
  const socket = await fixture.open({
    via: "tcp",
    host: "Echo.Example.org.",
    port: server.port,
    program: "nc",
  });
  socket.end("hello\n");
  expect(await readAll(socket)).toBe("hello\n");
  expect(await fixture.waitForRecord()).toMatchObject({
    box: "amber",
    via: "tcp",
    program: "nc",
    host: "echo.example.org",
    verdict: "allow",
    rule: "test:echo.example.org",
    layer: "project",
    bytesOut: 6,
    bytesIn: 6,
  });
  expect(fixture.records).toHaveLength(1);
  expect(fixture.gate.openHosts("amber")).toEqual([]);
});

it("shows what passes while the connection is still open", async () => {
  await using server = await echo();
  await using fixture = await openGateFixture();
  fixture.setPolicy(rule("echo.example.org", server.port));
  const socket = await fixture.open({ via: "tcp", host: "echo.example.org", port: server.port });
  socket.write("hello\n");
  await waitFor("six bytes are counted", () => fixture.gate.openHosts("amber")[0]?.bytesIn === 6);
  expect(fixture.gate.openHosts("amber")).toMatchObject([{ open: 1, bytesOut: 6, bytesIn: 6 }]);
  socket.end();
  expect(await fixture.waitForRecord()).toMatchObject({ bytesOut: 6, bytesIn: 6 });
  await waitFor("nothing is open", () => fixture.gate.openHosts("amber").length === 0);
});

it("moves many megabytes both ways unchanged", async () => {
  await using server = await echo();
  await using fixture = await openGateFixture();
  fixture.setPolicy(rule("echo.example.org", server.port));
  const socket = await fixture.open({ via: "tcp", host: "echo.example.org", port: server.port });
  const block = Buffer.alloc(1 << 20, "0123456789abcdef\n");
  let received = 0;
  socket.on("data", (chunk: Buffer) => (received += chunk.length));
  for (let i = 0; i < 32; i++) if (!socket.write(block)) await once(socket, "drain");
  socket.end();
  await once(socket, "end");
  expect(received).toBe(32 << 20);
});

it("lets a server speak first", async () => {
  await using server = await tcpServer((socket) => {
    socket.write("220 mail ready\r\n");
    socket.once("data", (chunk: Buffer) => socket.end(chunk));
  });
  await using fixture = await openGateFixture();
  fixture.setPolicy(rule("mail.example.org", server.port));
  const socket = await fixture.open({ via: "tcp", host: "mail.example.org", port: server.port });
  const [greeting] = (await once(socket, "data")) as [Buffer];
  expect(greeting.toString()).toBe("220 mail ready\r\n");
  socket.write("EHLO box\r\n");
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toBe("EHLO box\r\n");
});

it("closes what no rule names, and a box without a policy reaches nothing", async () => {
  await using server = await echo();
  await using fixture = await openGateFixture();
  const stranger = await fixture.open({ via: "tcp", host: "echo.example.org", port: server.port });
  await ended(stranger);
  expect(await fixture.waitForRecord()).toMatchObject({ verdict: "deny", reason: "policy_error" });
  fixture.setPolicy(rule("echo.example.org", server.port));
  const denied = await fixture.open({ via: "tcp", host: "other.example.org", port: server.port });
  denied.write("hello\n");
  await ended(denied);
  expect(fixture.records[1]).toMatchObject({ host: "other.example.org", verdict: "deny", reason: "no_rule" });
});

it("refuses a name that leads to a forbidden address, also among good ones", async () => {
  await using server = await echo();
  let addresses = ["127.0.0.1"];
  await using fixture = await openGateFixture({ resolve: async () => addresses });
  fixture.setPolicy(rule("echo.example.org", server.port), rule("late.example.org", server.port));
  const allowed = await fixture.open({ via: "tcp", host: "echo.example.org", port: server.port });
  allowed.end("hello\n");
  expect(await readAll(allowed)).toBe("hello\n");
  addresses = ["127.0.0.1", "169.254.169.254"];
  const rebound = await fixture.open({ via: "tcp", host: "late.example.org", port: server.port });
  rebound.write("hello\n");
  await ended(rebound);
  expect(await fixture.waitForRecord((one) => one.host === "late.example.org")).toMatchObject({
    verdict: "deny",
    reason: "forbidden_range",
  });
});

it("forbids loopback, private and metadata addresses by default, and opens one by exception", async () => {
  await using server = await echo();
  await using fixture = await openGateFixture({
    isForbidden: undefined,
    resolve: async () => ["127.0.0.1"],
  });
  const open = () => fixture.open({ via: "tcp", host: "db.agentbox.internal", port: server.port });
  const policy = { default: "deny", isLearning: false, bounds: [], exceptions: [] } as const;
  const rules = [rule("db.agentbox.internal", server.port)];
  const exception = {
    name: "db.agentbox.internal",
    address: "127.0.0.1",
    port: server.port,
    reason: "a database",
    origin: { layer: "project" },
  } as const;
  fixture.setWholePolicy({ ...policy, bounds: [], exceptions: [exception], rules });
  const allowed = await open();
  allowed.end("hello\n");
  expect(await readAll(allowed)).toBe("hello\n");
  fixture.setWholePolicy({ ...policy, bounds: [], exceptions: [], rules });
  const denied = await open();
  denied.write("hello\n");
  await ended(denied);
  expect(await fixture.waitForRecord((one) => one.verdict === "deny")).toMatchObject({
    reason: "forbidden_range",
  });
});

it("passes TLS untouched when its name is the judged one, and refuses another name", async () => {
  await using server = await httpsServer("www.example.org", (_, response) => response.end("fine"));
  await using fixture = await openGateFixture();
  fixture.setPolicy(rule("www.example.org", server.port));
  const open = () => fixture.open({ via: "tcp", host: "www.example.org", port: server.port });
  const secure = await startTls(await open(), "www.example.org", testCa);
  secure.write("GET / HTTP/1.1\r\nHost: www.example.org\r\nConnection: close\r\n\r\n");
  expect(await readAll(secure)).toContain("fine");
  await expect(startTls(await open(), "front.example.org", testCa)).rejects.toThrow();
  expect(await fixture.waitForRecord((one) => one.verdict === "deny")).toMatchObject({
    reason: "name_mismatch",
  });
});

it("looks at a late TLS hello too", async () => {
  await using server = await httpsServer("www.example.org", (_, response) => response.end("fine"));
  await using fixture = await openGateFixture({ limits: { silenceMs: 10 } });
  fixture.setPolicy(rule("www.example.org", server.port));
  const socket = await fixture.open({ via: "tcp", host: "www.example.org", port: server.port });
  await waitFor("one connection is open", () =>
    fixture.gate.openHosts("amber").find((one) => one.open === 1),
  );
  await expect(startTls(socket, "front.example.org", testCa)).rejects.toThrow();
  expect(await fixture.waitForRecord()).toMatchObject({ reason: "name_mismatch" });
});

it("answers a refused TLS client with the reason, under the gate's own certificate", async () => {
  await using fixture = await openGateFixture();
  fixture.setPolicy();
  const socket = await fixture.open({ via: "tcp", host: "www.example.org", port: 443 });
  const authority = readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8");
  const secure = await startTls(socket, "www.example.org", authority);
  secure.write("GET /secret?token=1 HTTP/1.1\r\nHost: www.example.org\r\n\r\n");
  const answer = await readAll(secure);
  expect(answer).toMatch(/^HTTP\/1\.1 403/);
  expect(answer).toContain("x-agentbox: denied");
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({
    error: expect.stringMatching(
      /^AgentBox: No rule lets this box reach www\.example\.org:443\. Ask a person/,
    ),
    code: "egress.denied",
    by: "AgentBox",
    box: "amber",
    host: "www.example.org",
    reason: "no_rule",
  });
  expect(fixture.records).toHaveLength(1);
});

it("tunnels a CONNECT, and says why not", async () => {
  await using server = await echo();
  await using fixture = await openGateFixture();
  fixture.setPolicy(rule("echo.example.org", server.port));
  const open = async (authority: string) => {
    const socket = await fixture.open({ via: "proxy" });
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
    const [chunk] = (await once(socket, "data")) as [Buffer];
    return { socket, answer: chunk.toString() };
  };
  const allowed = await open(`echo.example.org:${server.port}`);
  expect(allowed.answer).toMatch(/^HTTP\/1\.1 200/);
  allowed.socket.end("hello\n");
  expect(await readAll(allowed.socket)).toBe("hello\n");
  const denied = await open("other.example.org:443");
  expect(denied.answer).toMatch(/^HTTP\/1\.1 403/);
  expect(denied.answer).toContain('"reason":"no_rule"');
  const malformed = await open("user@echo.example.org:443");
  expect(malformed.answer).toMatch(/^HTTP\/1\.1 400/);
  expect(fixture.records.map((one) => one.reason)).toEqual([undefined, "no_rule", "malformed"]);
});

it("says that the server was unreachable, and not the policy", async () => {
  await using closed = await echo();
  await closed[Symbol.asyncDispose]();
  await using fixture = await openGateFixture();
  fixture.setPolicy(rule("gone.example.org", closed.port));
  const socket = await fixture.open({ via: "proxy" });
  socket.write(`CONNECT gone.example.org:${closed.port} HTTP/1.1\r\n\r\n`);
  const answer = await readAll(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 502/);
  expect(answer).toContain("x-agentbox: failed");
  expect(answer).toContain('"code":"egress.failed"');
});

it("closes tunnels that a new policy, an expiry or the end of the box no longer allows", async () => {
  await using server = await echo();
  await using fixture = await openGateFixture();
  const open = async () => {
    const socket = await fixture.open({ via: "tcp", host: "echo.example.org", port: server.port });
    socket.write("hello\n");
    await once(socket, "data");
    return socket;
  };
  const name = "echo.example.org";
  fixture.setPolicy(rule(name, server.port));
  const kept = await open();
  fixture.setPolicy(rule(name, server.port), rule("more.example.org", server.port));
  kept.write("still\n");
  expect(String((await once(kept, "data"))[0])).toBe("still\n");
  fixture.setPolicy();
  await ended(kept);
  expect(fixture.records.at(-1)).toMatchObject({
    verdict: "deny",
    reason: "no_rule",
    bytesOut: 12,
    bytesIn: 12,
  });

  fixture.setPolicy(rule(name, server.port, { expiresAtMs: Date.now() + 200 }));
  await ended(await open());
  await fixture.waitForRecord((one) => one.reason === "expired");

  fixture.setPolicy(rule(name, server.port));
  const dropped = await open();
  fixture.gate.drop("amber");
  await ended(dropped);
});

it("waits for a person, and takes no answer for a no", async () => {
  await using server = await httpServer((_, response) => response.end("fine"));
  await using fixture = await openGateFixture();
  fixture.setPolicy(rule("www.example.org", server.port, { mode: "ask" }));
  const get = async () => {
    const socket = await fixture.open({
      via: "tcp",
      host: "www.example.org",
      port: server.port,
      program: "curl",
    });
    socket.write("GET / HTTP/1.1\r\nHost: www.example.org\r\nConnection: close\r\n\r\n");
    return await readAll(socket);
  };
  fixture.answer = true;
  expect(await get()).toContain("fine");
  expect(fixture.asked).toMatchObject([{ host: "www.example.org", port: server.port, program: "curl" }]);
  expect(fixture.records.at(-1)).toMatchObject({ verdict: "allow" });
  fixture.answer = false;
  expect(await get()).toMatch(/^HTTP\/1\.1 403/);
  expect(fixture.records.at(-1)).toMatchObject({ verdict: "deny", reason: "not_approved" });
});
