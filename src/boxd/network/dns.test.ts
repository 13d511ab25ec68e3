import { decode, encode, type Packet, streamDecode, streamEncode } from "dns-packet";
import fc from "fast-check";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { answerDns, isHostName } from "./dns-answer.ts";
import { DnsServer } from "./dns-server.ts";
import { NameTable } from "./name-table.ts";

const refused = 5;
const nameError = 3;
const serverFailure = 2;

let names: NameTable;
let world: Parameters<typeof answerDns>[1];
let asked: string[];
beforeEach(() => {
  names = new NameTable();
  asked = [];
  world = {
    names,
    hostname: "my-box",
    ready: async (name) => {
      asked.push(name);
      return names.take(name)?.address;
    },
  };
});

const query = (name: string, type = "A", more: Partial<Packet> = {}) =>
  encode({ type: "query", id: 77, flags: 1 << 8, questions: [{ name, type: type as "A" }], ...more });

/** The rcode is in the last four bits of the flags. */
async function ask(name: string, type = "A") {
  const reply = await answerDns(query(name, type), world);
  if (!reply) return undefined;
  const { id, answers, questions } = decode(reply);
  expect(id).toBe(77);
  expect(questions?.[0]?.name).toBe(name);
  return {
    rcode: reply[3]! & 15,
    answers: (answers ?? []).map((answer) => (answer as { data: unknown }).data),
  };
}

describe("answers", () => {
  test("A: one address for a name, however it is written", async () => {
    expect(await ask("Example.ORG")).toEqual({ rcode: 0, answers: ["127.64.0.1"] });
    expect(await ask("example.org")).toEqual({ rcode: 0, answers: ["127.64.0.1"] });
    expect(await ask("_x.other.test")).toEqual({ rcode: 0, answers: ["127.64.0.2"] });
    expect(asked).toEqual(["example.org", "example.org", "_x.other.test"]);
  });

  test("the box itself is at home", async () => {
    for (const name of ["localhost", "a.localhost", "my-box"])
      expect(await ask(name)).toEqual({ rcode: 0, answers: ["127.0.0.1"] });
    expect(asked).toEqual([]);
  });

  test.each(["AAAA", "TXT", "MX", "SRV", "HTTPS", "SVCB", "NS", "SOA", "CAA", "NULL", "CNAME"])(
    "%s: there is nothing of that kind",
    async (type) => {
      expect(
        await ask("example.org", type === "HTTPS" ? "UNKNOWN_65" : type === "SVCB" ? "UNKNOWN_64" : type),
      ).toEqual({
        rcode: 0,
        answers: [],
      });
      expect(asked).toEqual([]);
    },
  );

  test.each(["ANY", "AXFR", "IXFR"])("%s is refused", async (type) => {
    expect(await ask("example.org", type)).toEqual({ rcode: refused, answers: [] });
  });

  test("PTR: the name for an address of ours, nothing for others", async () => {
    await ask("example.org");
    expect(await ask("1.0.64.127.in-addr.arpa", "PTR")).toEqual({ rcode: 0, answers: ["example.org"] });
    for (const name of ["8.8.8.8.in-addr.arpa", "2.0.64.127.in-addr.arpa", "x.in-addr.arpa"])
      expect(await ask(name, "PTR")).toEqual({ rcode: nameError, answers: [] });
  });

  test("no name: addresses, bad labels, too long", async () => {
    const tooLong = Array.from({ length: 4 }, () => "x".repeat(62)).join(".") + ".ab";
    for (const name of [
      "1.2.3.4",
      "0x7f.1",
      "2130706433",
      "a..b",
      "-a.test",
      "a@b.test",
      "a/b.test",
      tooLong,
    ])
      expect(isHostName(name), name).toBe(false);
    expect(await ask("1.2.3.4")).toEqual({ rcode: nameError, answers: [] });
    expect(isHostName(`${"x".repeat(63)}.test`)).toBe(true);
    expect(isHostName("xn--bcher-kva.example")).toBe(true);
  });

  test("names that are promised never to exist do not", async () => {
    for (const name of ["example.invalid", "invalid", "abc.onion"])
      expect(await ask(name)).toEqual({ rcode: nameError, answers: [] });
    expect(await ask("invalid.example")).toMatchObject({ rcode: 0 });
  });

  test("no place for a name is a failure, not a wrong address", async () => {
    world = { ...world, ready: () => Promise.resolve(undefined) };
    expect(await ask("example.org")).toEqual({ rcode: serverFailure, answers: [] });
  });

  test("what deserves no answer gets none", async () => {
    expect(await answerDns(Buffer.alloc(0), world)).toBeUndefined();
    expect(
      await answerDns(encode({ type: "response", id: 1, questions: [{ name: "a.test", type: "A" }] }), world),
    ).toBeUndefined();
    expect(await answerDns(encode({ type: "query", id: 1, questions: [] }), world)).toBeUndefined();
    const two = { name: "a.test", type: "A" } as const;
    expect(await answerDns(encode({ type: "query", id: 1, questions: [two, two] }), world)).toBeUndefined();
  });
});

describe("a server", () => {
  let server: DnsServer;
  beforeEach(async () => {
    server = new DnsServer(world);
    await server.listen("127.0.0.1", 0);
  });
  afterEach(() => server.close());

  async function askUdp(packet: Buffer): Promise<Packet> {
    const socket = createSocket("udp4");
    // Again and again, as resolvers do: a busy server may drop a packet.
    const send = () => socket.send(packet, server.udpPort, "127.0.0.1");
    const timer = setInterval(send, 50);
    send();
    const [reply] = (await once(socket, "message")) as [Buffer];
    clearInterval(timer);
    socket.close();
    return decode(reply);
  }
  const isFine = async () =>
    expect((await askUdp(query("fine.test"))).answers).toMatchObject([{ type: "A", ttl: 60 }]);

  test("answers over UDP and over TCP, several on one connection, in any pieces", async () => {
    await isFine();
    const socket = connect(server.tcpPort, "127.0.0.1");
    const packets = ["a.test", "b.test"].map((name) =>
      streamEncode({ type: "query", id: 5, questions: [{ name, type: "A" }] }),
    );
    for (const byte of Buffer.concat(packets)) socket.write(Buffer.from([byte]));
    let received = Buffer.alloc(0);
    const found: unknown[] = [];
    while (found.length < 2) {
      const [chunk] = (await once(socket, "data")) as [Buffer];
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const length = 2 + received.readUInt16BE(0);
        found.push(...(streamDecode(received.subarray(0, length)).answers ?? []));
        received = received.subarray(length);
      }
    }
    expect(found).toMatchObject([{ data: "127.64.0.2" }, { data: "127.64.0.3" }]);
    socket.destroy();
  });

  test("bytes that are no question over TCP cost the connection", async () => {
    const socket = connect(server.tcpPort, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(Buffer.from([0xff, 0xff, 1, 2, 3]));
    await once(socket.resume(), "close");
    await isFine();
  });

  test("malformed packets are dropped, and the server goes on", async () => {
    const mutated = fc
      .tuple(
        fc.constantFrom("a.test", "x".repeat(63) + ".example.org", "1.0.64.127.in-addr.arpa"),
        fc.constantFrom("A", "AAAA", "PTR", "TXT", "OPT"),
        fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { maxLength: 6 }),
        fc.nat(90),
      )
      .map(([name, type, changes, cut]) => {
        const packet = Buffer.from(query(name, type));
        for (const [at, byte] of changes) if (at < packet.length) packet[at] = byte;
        return packet.subarray(0, cut < 20 ? cut : packet.length);
      });
    const socket = createSocket("udp4");
    const packets = fc.oneof(
      mutated,
      fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(packets, async (packet) => {
        const reply = await answerDns(packet, world);
        // Never more than the question and one record, and always to the one who asked.
        if (reply) {
          expect(reply.length).toBeLessThanOrEqual(packet.length + 600);
          expect(reply.readUInt16BE(0)).toBe(packet.readUInt16BE(0));
        }
        await new Promise((resolve) => socket.send(packet, server.udpPort, "127.0.0.1", resolve));
      }),
      { numRuns: 2_000 },
    );
    socket.close();
    await isFine();
  });
});
