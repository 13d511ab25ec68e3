import { once } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import { readClientHello } from "./arrivals/client-hello.ts";
import { classify } from "./arrivals/first-bytes.ts";
import { ended, httpServer, openGateFixture, readAll, rule, tcpServer } from "./fixtures/gate.fixture.ts";

const name = "www.example.org";
const get = `GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;

const hello = (serverName: string): Buffer => {
  const sni = Buffer.from(serverName, "latin1");
  const u16 = (value: number): number[] => [value >> 8, value & 0xff];
  const entry = [0, ...u16(sni.length), ...sni];
  const list = [...u16(entry.length), ...entry];
  const extensions = [...u16(0), ...u16(list.length), ...list];
  const body = [3, 3, ...Array.from({ length: 32 }, () => 7), 0, ...u16(2), 0x13, 0x01, 1, 0];
  const message = [...body, ...u16(extensions.length), ...extensions];
  return Buffer.from([1, 0, ...u16(message.length), ...message]);
};
const records = (message: Buffer, size: number): Buffer => {
  const parts: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    parts.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(parts);
};

describe("first bytes", () => {
  it("finds the name in a hello, however it is cut into records", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (size) => {
        const bytes = records(hello(name), size);
        expect(readClientHello(bytes)).toEqual({ kind: "hello", serverName: name });
        for (const end of [1, 5, bytes.length - 1]) {
          expect(readClientHello(bytes.subarray(0, end)).kind).toBe("incomplete");
        }
      }),
    );
  });

  it("never throws, and never decides on a prefix what the whole would deny", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void classify(Buffer.from(bytes))));
    fc.assert(
      fc.property(fc.nat({ max: 60 }), fc.uint8Array({ minLength: 1, maxLength: 20 }), (at, junk) => {
        const bytes = records(hello(name), 64);
        bytes.set(junk, Math.min(at, bytes.length - junk.length));
        classify(bytes);
      }),
    );
    for (const request of [get, `\r\n\r\n${get}`, "get / http/1.1\r\n", "PRI * HTTP/2.0\r\n\r\n"]) {
      for (let end = 1; end < request.length; end++) {
        expect(["undecided", "http"]).toContain(classify(Buffer.from(request.slice(0, end))).kind);
      }
      expect(classify(Buffer.from(request)).kind).toBe("http");
    }
    expect(classify(Buffer.from("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")).kind).toBe("other");
    expect(classify(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])).kind).toBe("other");
  });
});

describe("malformed input", () => {
  it("ends its connection with one record and leaves the gate alive", async () => {
    await using server = await httpServer((_, response) => response.end("fine"));
    await using fixture = await openGateFixture({ limits: { firstBytesMs: 200, headersMs: 200 } });
    fixture.setPolicy(rule(name, server.port, { inspect: true }));
    const junk = fc.oneof(
      fc
        .uint8Array({ minLength: 1, maxLength: 300 })
        .map((bytes) => Buffer.from(bytes))
        // Line ends before a request are allowed, so they alone ask for nothing.
        .filter((bytes) => bytes.some((byte) => byte !== 10 && byte !== 13)),
      fc.string({ maxLength: 60 }).map((text) => Buffer.from(`CONNECT ${text} HTTP/1.1\r\n\r\n`)),
      fc
        .string({ maxLength: 60 })
        .map((text) => Buffer.from(`GET http://${text}/ HTTP/1.1\r\n${text}\r\n\r\n`)),
      fc
        .uint8Array({ maxLength: 60 })
        .map((bytes) => Buffer.concat([Buffer.from([0x16, 3, 1, 0, 60]), bytes])),
    );
    await fc.assert(
      fc.asyncProperty(junk, fc.boolean(), async (bytes, isProxy) => {
        const before = fixture.records.length;
        const socket = await fixture.open(
          isProxy ? { via: "proxy" } : { via: "tcp", host: name, port: server.port },
        );
        socket.end(bytes);
        await ended(socket);
        await waitFor("a record", () => fixture.records.length > before);
        expect(fixture.records.slice(before)).toMatchObject([{ verdict: "deny" }]);
      }),
      { numRuns: 150 },
    );
    const socket = await fixture.open({ via: "tcp", host: name, port: server.port });
    socket.write(get);
    expect(await readAll(socket)).toContain("fine");
  });
});

describe("limits", () => {
  it("closes connections beyond the number, and records them together", async () => {
    await using server = await tcpServer((socket) => void socket.pipe(socket));
    await using fixture = await openGateFixture({ limits: { connectionsPerBox: 2 } });
    fixture.setPolicy(rule(name, server.port));
    const open = () => fixture.open({ via: "tcp", host: name, port: server.port });
    const [first, second] = [await open(), await open()];
    first.write("a\n");
    second.write("b\n");
    await once(first, "data");
    await once(second, "data");
    for (let i = 0; i < 5; i++) await ended(await open());
    expect(fixture.records).toMatchObject([{ reason: "limit" }]);
    await waitFor("two records", () => fixture.records.length === 2);
    expect(fixture.records[1]).toMatchObject({ reason: "limit", path: "(connections: 4 refused)" });
    first.end();
    await ended(first);
    await fixture.waitForRecord((one) => one.verdict === "allow");
    const again = await open();
    again.end("c\n");
    expect(await readAll(again)).toBe("c\n");
  });

  it("answers 429 beyond the rate of requests", async () => {
    await using server = await httpServer((_, response) => response.end("fine"));
    await using fixture = await openGateFixture({ limits: { requestsPerSecond: 0.001, requestsBurst: 1 } });
    fixture.setPolicy(rule(name, server.port));
    const ask = async () => {
      const socket = await fixture.open({ via: "tcp", host: name, port: server.port });
      socket.write(get);
      return await readAll(socket);
    };
    expect(await ask()).toContain("fine");
    expect(await ask()).toMatch(/^HTTP\/1\.1 429/);
    expect(fixture.records.map((one) => one.reason)).toEqual([undefined, "limit"]);
  });

  it("ends a head that trickles in, and a program that says nothing where it must be read", async () => {
    await using fixture = await openGateFixture({ limits: { headersMs: 300, firstBytesMs: 300 } });
    fixture.setPolicy(rule(name, 80, { inspect: true }));
    const slow = await fixture.open({ via: "proxy" });
    slow.write("GET http://www.example.org/ HTTP/1.1\r\nHost: ");
    expect(await readAll(slow)).toContain('"reason":"limit"');
    const silent = await fixture.open({ via: "tcp", host: name, port: 80 });
    await ended(silent);
    expect(fixture.records.map((one) => one.reason)).toEqual(["limit", "limit"]);
  });
});
