import { type Answer, decode, encode, type Question } from "dns-packet";
import type { NameTable } from "./name-table.ts";

const ttlSeconds = 60;
const headerBytes = 12;
const maxNameLength = 253;

const flag = { authoritative: 1 << 10, recursionDesired: 1 << 8, recursionAvailable: 1 << 7 } as const;
const responseFlag = 1 << 15;
const opcodeMask = 0xf << 11;
const rcode = { noError: 0, serverFailure: 2, nameError: 3, notImplemented: 4, refused: 5 } as const;

export interface DnsWorld {
  readonly names: NameTable;
  readonly hostname: string;
  /** Makes the name reachable; the address in the answer is of no use before. */
  ready(name: string): Promise<string | undefined>;
}

interface Outcome {
  readonly rcode: number;
  readonly answers?: Answer[];
}

/**
 * The answer to one packet, from this box alone: no question ever leaves it, so that there is nothing to tunnel
 * through. Undefined when the packet deserves none.
 */
export async function answerDns(packet: Buffer, world: DnsWorld): Promise<Buffer | undefined> {
  if (packet.length < headerBytes) return undefined;
  const flags = packet.readUInt16BE(2);
  // An answer to an answer would go back and forth for ever.
  if ((flags & responseFlag) !== 0) return undefined;
  const question = readQuestion(packet);
  if (question === undefined) return undefined;
  const outcome =
    (flags & opcodeMask) === 0 ? await answerQuestion(question, world) : { rcode: rcode.notImplemented };
  return encode({
    id: packet.readUInt16BE(0),
    type: "response",
    flags: flag.authoritative | flag.recursionAvailable | (flags & flag.recursionDesired) | outcome.rcode,
    questions: [question],
    answers: outcome.answers ?? [],
  });
}

/** Only the question is read; what else a packet says it carries is neither needed nor believed. */
function readQuestion(packet: Buffer): Question | undefined {
  if (packet.readUInt16BE(4) !== 1) return undefined;
  const alone = Buffer.from(packet);
  alone.fill(0, 6, headerBytes);
  try {
    const question = decode(alone).questions?.[0];
    // Other bytes would not come back as they were asked.
    return question && /^[\x21-\x7e]+$/.test(question.name) ? question : undefined;
  } catch {
    return undefined;
  }
}

async function answerQuestion(question: Question, world: DnsWorld): Promise<Outcome> {
  if (question.class !== "IN") return { rcode: rcode.refused };
  const name = question.name.toLowerCase();
  switch (question.type as string) {
    case "A":
      return answerAddress(question.name, name, world);
    case "PTR":
      return answerPointer(question.name, name, world);
    case "ANY":
    case "AXFR":
    case "IXFR":
      return { rcode: rcode.refused };
    default:
      // "There is such a name, and nothing of that kind": a program then goes on with the A record.
      return { rcode: isHostName(name) ? rcode.noError : rcode.nameError };
  }
}

async function answerAddress(asked: string, name: string, world: DnsWorld): Promise<Outcome> {
  // Names that RFC 6761 and 7686 promise never to exist; programs try them to learn whether a resolver lies.
  if (/(?:^|\.)(?:invalid|onion)$/.test(name)) return { rcode: rcode.nameError };
  const isOwn = name === "localhost" || name.endsWith(".localhost") || name === world.hostname;
  if (!isOwn && !isHostName(name)) return { rcode: rcode.nameError };
  const address = isOwn ? "127.0.0.1" : await world.ready(name);
  if (address === undefined) return { rcode: rcode.serverFailure };
  return { rcode: rcode.noError, answers: [{ type: "A", name: asked, ttl: ttlSeconds, data: address }] };
}

function answerPointer(asked: string, name: string, world: DnsWorld): Outcome {
  const reversed = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\.in-addr\.arpa$/.exec(name);
  const found = reversed ? world.names.nameAt(reversed.slice(1, 5).toReversed().join(".")) : undefined;
  if (found === undefined) return { rcode: rcode.nameError };
  return { rcode: rcode.noError, answers: [{ type: "PTR", name: asked, ttl: ttlSeconds, data: found }] };
}

/** A well-formed name: the gate says whether it may be reached, with a reason. */
export function isHostName(name: string): boolean {
  if (name.length > maxNameLength) return false;
  const labels = name.split(".");
  // Numbers at the end make it an address, or something that parsers disagree about.
  if (/^(\d+|0x[\da-f]*)$/.test(labels.at(-1)!)) return false;
  return labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
}
