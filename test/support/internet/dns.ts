/** The authoritative name server of the test's internet: it answers from one table and logs every question. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { type Answer, decode, encode, type Packet, streamEncode } from "dns-packet";
import { arrived } from "./log.ts";

/** The addresses of a name. Given several lists, each question takes the next one and the last one stays. */
export type Zone = Record<string, readonly (readonly string[])[]>;

const zone = new Map<string, (readonly string[])[]>();

export const setNames = (names: Zone): void => {
  for (const [name, answers] of Object.entries(names)) zone.set(name, [...answers]);
};

function answersTo(question: { name: string; type: string }): readonly string[] | undefined {
  const lists = zone.get(question.name.toLowerCase());
  const current = lists?.[0];
  if (lists !== undefined && lists.length > 1 && question.type === "A") lists.shift();
  return current;
}

function reply(query: Packet, via: string): Packet {
  const question = query.questions?.[0];
  const base = { id: query.id ?? 0, type: "response" as const, questions: query.questions ?? [] };
  if (question === undefined) return { ...base, flags: 1 };
  arrived({ kind: "dns", name: question.name, type: question.type, via });
  const addresses = answersTo(question);
  if (addresses === undefined) return { ...base, flags: 0x0400 | 3 };
  const isWanted = (address: string) =>
    (question.type === "A" && !address.includes(":")) || (question.type === "AAAA" && address.includes(":"));
  const answers = addresses
    .filter(isWanted)
    .map((data) => ({ name: question.name, type: question.type, ttl: 0, data }) as Answer);
  return { ...base, flags: 0x0400, answers };
}

export async function serveDns(addresses: readonly string[]): Promise<void> {
  for (const address of addresses) {
    const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
    socket.on("message", (message, peer) => {
      try {
        socket.send(encode(reply(decode(message), `udp ${address}`)), peer.port, peer.address);
      } catch {
        arrived({ kind: "dns", name: "?", type: "malformed", via: `udp ${address}` });
      }
    });
    socket.bind(53, address);
    await once(socket, "listening");
    const server = createServer((connection) => {
      connection.on("error", () => undefined);
      connection.on("data", (chunk) => {
        try {
          connection.end(streamEncode(reply(decode(chunk.subarray(2)), `tcp ${address}`)));
        } catch {
          connection.destroy();
        }
      });
    });
    server.listen(53, address);
    await once(server, "listening");
  }
}
