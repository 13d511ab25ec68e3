/**
 * Requests of a program through the gate, made from a seed: whole, broken off, and written in ways that have two
 * readings.
 */
import { type Random, below, pick } from "../seeded.ts";

export const host = "api.example.org";
export const allowedMethods = ["GET", "HEAD", "POST", "PUT", "OPTIONS"];

export type Ending =
  /** All of it is sent. */
  | "whole"
  /** The connection or the stream ends before the body is whole. */
  | "cut"
  /** As much as that, but only when an answer has begun. */
  | "cut-after-answer"
  /** All is sent, and the program goes away before it has read the answer. */
  | "unread";

export interface Exchange {
  readonly id: string;
  readonly method: string;
  /** The server's task, and the id. */
  readonly path: string;
  readonly framing: "none" | "length" | "chunked";
  readonly body: Buffer;
  /** How many bytes of the body are sent. */
  readonly sent: number;
  readonly ending: Ending;
  readonly expectsContinue: boolean;
  readonly trailers: readonly string[];
  readonly headers: readonly string[];
  /** Written so that parsers may disagree: the gate may refuse it, or take it for any number of requests. */
  readonly disguise: Disguise | undefined;
}

/** Changes the head or the body as it stands on the wire, over HTTP/1.1. */
export type Disguise = (head: string, body: string) => string;

export const smuggled = (id: string): string =>
  `DELETE /smuggled/${id} HTTP/1.1\r\nHost: ${host}\r\nX-Id: ${id}\r\n\r\n`;

const inBody: readonly ((id: string, random: Random) => string)[] = [
  (id) => smuggled(id),
  (id) => `0\r\n\r\n${smuggled(id)}`,
  (id) => `\r\n${smuggled(id)}`,
  (id, random) => "A".repeat(below(random, 400)) + smuggled(id),
  (id, random) =>
    `${smuggled(id)}POST /smuggled/${id} HTTP/1.1\r\nContent-Length: ${below(random, 900)}\r\n\r\n`,
  (_, random) => "x".repeat(below(random, 64)),
  (_, random) => "x".repeat(below(random, 8_000)),
  () => "",
];

const afterLine = (line: string) => (head: string, body: string) =>
  head.replace("\r\n", `\r\n${line}\r\n`) + body;
const disguises: readonly Disguise[] = [
  afterLine("Transfer-Encoding: chunked"),
  afterLine("Transfer-Encoding : chunked"),
  afterLine("Transfer-Encoding: xchunked"),
  afterLine("Transfer-Encoding: chunked, identity"),
  afterLine("Transfer-Encoding:\u000bchunked"),
  afterLine("X: y\r\n Transfer-Encoding: chunked"),
  afterLine("X: y\nTransfer-Encoding: chunked"),
  afterLine("X: y\rTransfer-Encoding: chunked"),
  afterLine("Transfer_Encoding: chunked"),
  afterLine("Content-Length: 0"),
  afterLine("Content-Length: 4, 4"),
  afterLine("Content-Length: +4"),
  afterLine("Content-Length: 0x4"),
  afterLine("Content-Length:"),
  afterLine("Content_Length: 4"),
  afterLine("Connection: content-length, host"),
  afterLine("Connection: transfer-encoding"),
  afterLine("Host: other.example.org"),
  afterLine("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__"),
  afterLine("Connection: Upgrade\r\nUpgrade: websocket"),
  (head, body) => head.replace("HTTP/1.1", "HTTP/1.0") + body,
  (head, body) => head.replace("HTTP/1.1", "HTTP/2.0") + body,
  (head, body) => head.replace("HTTP/1.1\r\n", "HTTP/1.1\n") + body,
  (head, body) => head.replace(" HTTP/1.1", "\tHTTP/1.1") + body,
  (head, body) => head.replace(" /", "  /") + body,
  (head, body) => `\r\n\r\n${head}${body}`,
  (head, body) => head.replaceAll("\r\n", "\n") + body,
  (head, body) => `${head}${body.replace("\r\n", "\n")}`,
  (head, body) => `${head}${body.replace("\r\n", ";x=\n\r\n")}`,
  (head, body) => `${head}${body.replace(/^[\da-f]+/, (size) => `0${size}`)}`,
  (head, body) => `${head}${body.replace(/^[\da-f]+/, (size) => `${size} `)}`,
  (head, body) => `${head}${body}${smuggled("after")}`,
  (head, body) => head + body.slice(1),
];

const behaviours = [
  ["echo", 10],
  ["early", 5],
  ["none", 1],
  ["not-modified", 1],
  ["chunked", 2],
  ["hints", 1],
  ["limited", 1],
  ["close", 1],
] as const;
/** The acts of the hostile server alone. */
const hostileBehaviours = [
  "extra",
  "second",
  "short",
  "long",
  "both",
  "old",
  "line-feed",
  "open-end",
  "body-to-none",
  "reset",
  "reset-inside",
  "switch",
  "many-hints",
  "trailers",
  "signed-length",
  "late-read",
] as const;
const weighted = behaviours.flatMap(([name, weight]) => Array.from({ length: weight }, () => name));

export interface Situation {
  readonly isHostile: boolean;
  readonly mayDisguise: boolean;
  /** The server leaves a body unread and takes it for the next request, so only a closed connection protects. */
  readonly mayAnswerEarly: boolean;
  /** It does so while the body is still on its way. */
  readonly answersAtOnce: boolean;
  /** How many of the bodies break off. Over HTTP/1.1 that is the end of the connection. */
  readonly cutShare: number;
}

export function makeExchange(random: Random, id: string, situation: Situation): Exchange {
  const { isHostile, mayDisguise, mayAnswerEarly, answersAtOnce, cutShare } = situation;
  const behaviour = isHostile && random() < 0.6 ? pick(random, hostileBehaviours) : pick(random, weighted);
  const name = ["early", "limited"].includes(behaviour) && !mayAnswerEarly ? "echo" : behaviour;
  const isForbidden = random() < 0.02;
  const method = isForbidden ? "DELETE" : pick(random, allowedMethods);
  const framing = random() < 0.45 ? "none" : pick(random, ["length", "chunked"] as const);
  const body = framing === "none" ? Buffer.alloc(0) : Buffer.from(pick(random, inBody)(id, random), "latin1");
  const isCut = body.length > 0 && random() < cutShare;
  // Only an answer that does not wait for the body can be waited for before the body is whole.
  const cut: Ending = answersAtOnce && name === "early" && random() < 0.7 ? "cut-after-answer" : "cut";
  const ending = isCut ? cut : random() < cutShare / 3 ? "unread" : "whole";
  const expectsContinue = framing !== "none" && ending === "whole" && random() < 0.08;
  return {
    id,
    method,
    path: `/${name}/${id}`,
    framing,
    body,
    sent: isCut ? below(random, body.length) : body.length,
    ending,
    expectsContinue,
    trailers: framing === "chunked" && random() < 0.2 ? ["X-After", id, "X-Host", "a"] : [],
    headers: random() < 0.2 ? ["X-Padding", "p".repeat(below(random, 300))] : [],
    disguise: mayDisguise && random() < 0.06 ? pick(random, disguises) : undefined,
  };
}
