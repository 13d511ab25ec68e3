/** Programs in a box that send exchanges through the gate, over HTTP/1.1 and HTTP/2, in pieces, in one go, or not to the end. */
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import type { Duplex } from "node:stream";
import { type Random, below, pick } from "../seeded.ts";
import { type Exchange, host } from "./exchange.ts";

/** An answer as a program got it. */
export interface Answer {
  /** Undefined: it cannot be said to which exchange it belongs. */
  readonly exchange: Exchange | undefined;
  readonly status: number;
  /** The path that the server answered to, if the answer is the server's. */
  readonly seen: string | undefined;
  /** How many bytes the server meant to send, and how many came; only of whole answers. */
  readonly size: number | undefined;
  readonly bytes: number;
}

export interface Told {
  readonly answers: Answer[];
  /** Nothing came any more, and the client had to give up. */
  isStuck: boolean;
}

/** Behind a request that may have swallowed those after it, no answer may ever come. */
export const patienceMs = (exchanges: readonly Exchange[]): number =>
  exchanges.some(({ disguise }) => disguise !== undefined) ? 300 : 20_000;

function headOf(exchange: Exchange, target: string): string {
  const { method, framing, body, expectsContinue, headers } = exchange;
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  if (framing === "length") lines.push(`Content-Length: ${body.length}`);
  if (framing === "chunked") lines.push("Transfer-Encoding: chunked");
  if (expectsContinue) lines.push("Expect: 100-continue");
  if (exchange.path.startsWith("/switch/"))
    lines.push(
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Version: 13",
    );
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** The body as it stands on the wire, up to what is sent of it. */
function bodyOf(random: Random, { framing, body, sent, trailers }: Exchange): string {
  const text = body.toString("latin1", 0, sent);
  if (framing !== "chunked") return text;
  let chunks = "";
  for (let at = 0; at < text.length; ) {
    const size = Math.min(text.length - at, 1 + below(random, 2_000));
    chunks += `${size.toString(16)}\r\n${text.slice(at, at + size)}\r\n`;
    at += size;
  }
  if (sent < body.length) return chunks;
  let after = "";
  for (let i = 0; i < trailers.length; i += 2) after += `${trailers[i]}: ${trailers[i + 1]}\r\n`;
  return `${chunks}0\r\n${after}\r\n`;
}

/** Sends all exchanges over one connection; what ends before its time is the last of it. */
export async function speakHttp1(
  random: Random,
  socket: Duplex,
  exchanges: readonly Exchange[],
  isProxy: false | number,
): Promise<Told> {
  const told: Told = { answers: [], isStuck: false };
  const reader = new AnswerReader(exchanges, told.answers);
  const isPipelined = random() < 0.5;
  await new Promise<void>((resolve) => {
    let next = 0;
    const timer = setTimeout(() => {
      told.isStuck = exchanges.every(({ disguise }) => disguise === undefined);
      socket.destroy();
    }, patienceMs(exchanges));
    let begunWith: (() => void) | undefined;
    const end = (): void => {
      // The bytes reach the gate before their end does.
      socket.end(() => socket.destroy());
    };
    const send = (): void => {
      for (;;) {
        const exchange = exchanges[next];
        if (exchange === undefined) {
          if (reader.count >= exchanges.length) end();
          return;
        }
        next += 1;
        const target = isProxy === false ? exchange.path : `http://${host}:${isProxy}${exchange.path}`;
        const head = headOf(exchange, target);
        const body = bodyOf(random, exchange);
        const text = exchange.disguise === undefined ? head + body : exchange.disguise(head, body);
        if (random() < 0.2 && text.length < 3_000) {
          const at = below(random, text.length);
          socket.write(text.slice(0, at), "latin1");
          socket.write(text.slice(at), "latin1");
        } else socket.write(text, "latin1");
        if (exchange.ending === "cut" || exchange.ending === "unread") return end();
        if (exchange.ending === "cut-after-answer") {
          begunWith = end;
          return;
        }
        if (!isPipelined) return;
      }
    };
    socket.on("data", (chunk: Buffer) => {
      const before = reader.count;
      reader.read(chunk);
      if (begunWith !== undefined) begunWith();
      else if (reader.count > before) send();
    });
    socket.on("end", () => {
      reader.end();
      socket.destroy();
    });
    socket.on("error", () => undefined);
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    send();
  });
  return told;
}

/** Answers of one connection, in their order, read strictly: after one that is not clear, nothing more is taken. */
class AnswerReader {
  readonly #exchanges: readonly Exchange[];
  readonly #answers: Answer[];
  #begun: Buffer = Buffer.alloc(0);
  #open: { answer: Answer; left: number | "chunked" | "end" } | undefined;
  #bytes = 0;
  #isLost = false;
  count = 0;

  constructor(exchanges: readonly Exchange[], answers: Answer[]) {
    this.#exchanges = exchanges;
    this.#answers = answers;
  }

  read(chunk: Buffer): void {
    this.#begun = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk]);
    while (!this.#isLost && this.#step());
  }

  end(): void {
    if (this.#open?.left === "end") this.#close();
  }

  #step(): boolean {
    if (this.#open !== undefined) return this.#body();
    const end = this.#begun.indexOf("\r\n\r\n");
    if (end === -1) return false;
    const lines = this.#begun.toString("latin1", 0, end).split("\r\n");
    this.#begun = this.#begun.subarray(end + 4);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(lines[0]!)?.[1]);
    if (status >= 100 && status < 200 && status !== 101) return true;
    const headers = new Map(
      lines.slice(1).map((one) => [one.split(":")[0]!.toLowerCase(), one.slice(one.indexOf(":") + 1).trim()]),
    );
    const exchange = this.#exchanges[this.count];
    // Behind a request that several parsers read differently, the order of the answers says nothing.
    const isClear = this.#exchanges.slice(0, this.count + 1).every(({ disguise }) => disguise === undefined);
    const size = headers.get("x-size");
    const answer = {
      exchange: isClear ? exchange : undefined,
      status,
      seen: headers.get("x-seen"),
      size: size === undefined ? undefined : Number(size),
      bytes: 0,
    };
    const isEmpty = (isClear && exchange?.method === "HEAD") || status === 204 || status === 304;
    const length = headers.get("content-length");
    const left = isEmpty
      ? 0
      : headers.has("transfer-encoding")
        ? "chunked"
        : length === undefined
          ? "end"
          : Number(length);
    this.#bytes = 0;
    this.#open = { answer: isEmpty ? { ...answer, size: undefined } : answer, left };
    this.#isLost = !isClear || Number.isNaN(status) || status === 101;
    if (this.#isLost) {
      this.count += 1;
      this.#answers.push(answer);
      this.#open = undefined;
    }
    return !this.#isLost;
  }

  #body(): boolean {
    const open = this.#open!;
    if (open.left === "chunked") {
      const end = this.#begun.indexOf("\r\n");
      if (end === -1) return false;
      const size = Number.parseInt(this.#begun.toString("latin1", 0, end), 16);
      if (size === 0) {
        const after = this.#begun.indexOf("\r\n\r\n", end);
        if (after === -1) return false;
        this.#begun = this.#begun.subarray(after + 4);
        return this.#close();
      }
      if (this.#begun.length < end + size + 4) return false;
      this.#bytes += size;
      this.#begun = this.#begun.subarray(end + size + 4);
      return true;
    }
    const taken = open.left === "end" ? this.#begun.length : Math.min(open.left, this.#begun.length);
    this.#bytes += taken;
    this.#begun = this.#begun.subarray(taken);
    if (open.left === "end") return false;
    open.left -= taken;
    return open.left === 0 && this.#close();
  }

  #close(): true {
    this.#answers.push({ ...this.#open!.answer, bytes: this.#bytes });
    this.#open = undefined;
    this.count += 1;
    return true;
  }
}

/** Sends all exchanges over one session, several at a time. */
export async function speakHttp2(
  random: Random,
  socket: Duplex,
  exchanges: readonly Exchange[],
): Promise<Told> {
  const told: Told = { answers: [], isStuck: false };
  const session = connectHttp2(`https://${host}`, { createConnection: () => socket });
  session.on("error", () => undefined);
  const timer = setTimeout(() => {
    told.isStuck = exchanges.every(({ disguise }) => disguise === undefined);
    session.destroy();
  }, patienceMs(exchanges));
  const width = pick(random, [1, 2, 4, 8]);
  for (let at = 0; at < exchanges.length && !session.destroyed; at += width)
    await Promise.all(
      exchanges.slice(at, at + width).map((exchange) => speakStream(random, session, exchange, told)),
    );
  clearTimeout(timer);
  session.destroy();
  if (!socket.destroyed) socket.destroy();
  return told;
}

const codes = [
  constants.NGHTTP2_NO_ERROR,
  constants.NGHTTP2_CANCEL,
  constants.NGHTTP2_INTERNAL_ERROR,
  constants.NGHTTP2_REFUSED_STREAM,
];

function speakStream(
  random: Random,
  session: ClientHttp2Session,
  exchange: Exchange,
  told: Told,
): Promise<void> {
  const { method, path, framing, body, sent, ending, headers, trailers } = exchange;
  const fields: Record<string, string> = { ":method": method, ":path": path, ":authority": host };
  for (let i = 0; i < headers.length; i += 2) fields[headers[i]!.toLowerCase()] = headers[i + 1]!;
  if (framing === "length") fields["content-length"] = String(body.length);
  if (exchange.expectsContinue) fields["expect"] = "100-continue";
  const hasTrailers = trailers.length > 0 && ending === "whole";
  return new Promise((resolve) => {
    if (session.destroyed) return resolve();
    const stream = session.request(fields, { endStream: framing === "none", waitForTrailers: hasTrailers });
    const code = pick(random, codes);
    const way = random();
    const give = (): void => {
      // Ending is a way to be short as well: the stream is closed properly, and the length was a lie.
      if (way < 0.3 && framing === "length" && ending !== "unread") stream.end();
      else if (way < 0.9) stream.close(code);
      else session.destroy();
    };
    // Node's HTTP/2 spoils its own memory when a stream is reset from inside one of its callbacks.
    const giveUp = (): void => void setImmediate(give);
    if (hasTrailers)
      stream.on("wantTrailers", () => stream.sendTrailers({ "x-after": exchange.id, "x-host": "a" }));
    let answer: Answer | undefined;
    stream.on("response", (got) => {
      const size = method === "HEAD" ? undefined : got["x-size"];
      answer = {
        exchange,
        status: Number(got[":status"]),
        seen: got["x-seen"] as string | undefined,
        size: size === undefined ? undefined : Number(size),
        bytes: 0,
      };
    });
    let bytes = 0;
    stream.on("data", (chunk: Buffer) => (bytes += chunk.length));
    stream.on("end", () => {
      // A stream ends as if it were whole when the program itself has reset it, or has ended the session for another one.
      const isGivenUp = session.destroyed || exchange.ending === "cut" || exchange.ending === "unread";
      if (answer !== undefined && !isGivenUp && stream.rstCode === 0 && !stream.aborted)
        told.answers.push({ ...answer, bytes });
      if (ending === "cut-after-answer") giveUp();
    });
    stream.on("error", () => undefined);
    stream.once("close", () => resolve());
    if (framing !== "none") {
      if (sent > 0) stream.write(body.subarray(0, sent));
      if (ending === "whole") stream.end();
    }
    if (ending === "cut" || ending === "unread") {
      if (random() < 0.5) giveUp();
      else setImmediate(giveUp);
    }
  });
}
