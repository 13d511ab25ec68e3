/** HTTP/2 written frame by frame, so that what a stream says and when it ends is known, and nothing has to be allowed. */
import type { Duplex } from "node:stream";
import { type Random, below, pick } from "../seeded.ts";
import { type Told, patienceMs } from "./clients.ts";
import { type Exchange, host, smuggled } from "./exchange.ts";

const kinds = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
};
const endStream = 1;
const endHeaders = 4;
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

function frame(kind: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = kind;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Literals without an index and without Huffman. */
function fields(pairs: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value, "latin1");
    if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes]);
    const more: number[] = [127];
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) more.push((rest & 127) | 128);
    return Buffer.concat([Buffer.from([...more, rest]), bytes]);
  };
  return Buffer.concat(pairs.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]));
}

type Pairs = [string, string][];

/** Heads that are another request, or two, when they are written as HTTP/1.1. */
const twists: readonly ((pairs: Pairs, exchange: Exchange) => Pairs)[] = [
  (pairs) => [...pairs, ["transfer-encoding", "chunked"]],
  (pairs) => [...pairs, ["content-length", "0"]],
  (pairs) => [...pairs, ["content-length", "+3"]],
  (pairs) => [...pairs, ["host", "other.example.org"]],
  (pairs) => [...pairs, ["host", host]],
  (pairs) => [...pairs, [":authority", host]],
  (pairs) => [...pairs, ["connection", "content-length"]],
  (pairs) => [...pairs, ["upgrade", "websocket"]],
  (pairs) => [...pairs, ["x", `a\r\n\r\n${smuggled("value")}`]],
  (pairs) => [...pairs, ["x", "a\r\ntransfer-encoding: chunked"]],
  (pairs) => [...pairs, ["x\r\ntransfer-encoding: chunked\r\ny", "a"]],
  (pairs) => [...pairs, ["x: y", "a"]],
  (pairs) => [...pairs, ["Content-Length", "0"]],
  (pairs) => [...pairs, ["content_length", "0"]],
  (pairs) => [...pairs, ["te", "trailers"]],
  (pairs) => [...pairs, ["expect", "100-continue"]],
  (pairs) => pairs.filter(([name]) => name !== ":authority"),
  (pairs, { id }) =>
    pairs.map(([name, value]) => [
      name,
      name === ":path" ? `${value} HTTP/1.1\r\n\r\n${smuggled(id)}` : value,
    ]),
  (pairs) => pairs.map(([name, value]) => [name, name === ":path" ? `${value} x` : value]),
  (pairs) => pairs.map(([name, value]) => [name, name === ":path" ? `http://${host}${value}` : value]),
  (pairs) => pairs.map(([name, value]) => [name, name === ":path" ? "*" : value]),
  (pairs, { id }) =>
    pairs.map(([name, value]) => [
      name,
      name === ":method" ? `${value} /smuggled/${id} HTTP/1.1\r\nx:` : value,
    ]),
  (pairs) => pairs.map(([name, value]) => [name, name === ":authority" ? `${value}\r\nx: y` : value]),
  (pairs) => pairs.map(([name, value]) => [name, name === ":authority" ? `u@${value}` : value]),
  (pairs) => pairs.map(([name, value]) => [name, name === ":scheme" ? "http" : value]),
  (pairs) => [...pairs.slice(1), pairs[0]!],
  (pairs) => [["x", "y"], ...pairs],
];

const badTrailers: readonly Pairs[] = [
  [["content-length", "3"]],
  [["transfer-encoding", "chunked"]],
  [[":path", "/smuggled/trailer"]],
  [["x", "a\r\n\r\n"]],
  [["authorization", "Bearer mallory"]],
  [["host", "other.example.org"]],
];

/** The parts that one stream writes, in order. */
function streamFrames(random: Random, exchange: Exchange, stream: number): Buffer[] {
  const { method, path, framing, body, sent, ending, headers, trailers } = exchange;
  let pairs: Pairs = [
    [":method", method],
    [":scheme", "https"],
    [":path", path],
    [":authority", host],
  ];
  for (let i = 0; i < headers.length; i += 2) pairs.push([headers[i]!.toLowerCase(), headers[i + 1]!]);
  if (framing === "length") pairs.push(["content-length", String(body.length)]);
  if (exchange.disguise !== undefined) pairs = pick(random, twists)(pairs, exchange);
  const block = fields(pairs);
  // Nothing to say, which the length says as well: some programs do.
  const isOver =
    framing === "none" || (framing === "length" && body.length === 0 && ending === "whole" && random() < 0.5);
  const frames: Buffer[] = [];
  if (random() < 0.2 && block.length > 2) {
    const at = 1 + below(random, block.length - 1);
    frames.push(frame(kinds.headers, isOver ? endStream : 0, stream, block.subarray(0, at)));
    frames.push(frame(kinds.continuation, endHeaders, stream, block.subarray(at)));
  } else frames.push(frame(kinds.headers, endHeaders | (isOver ? endStream : 0), stream, block));
  const hasTrailers = trailers.length > 0 && ending === "whole";
  const isEnded = ending === "whole" && !hasTrailers;
  for (let at = 0; at < sent; ) {
    const size = Math.min(sent - at, 1 + below(random, 8_000));
    at += size;
    const isLast = at === sent && isEnded && random() < 0.7;
    frames.push(frame(kinds.data, isLast ? endStream : 0, stream, body.subarray(at - size, at)));
    if (isLast) return frames;
  }
  if (isOver) return frames;
  if (hasTrailers) {
    const isBad = exchange.disguise !== undefined;
    const after = fields(isBad ? pick(random, badTrailers) : [["x-after", exchange.id]]);
    return [
      ...frames,
      frame(kinds.headers, endHeaders | (isBad && random() < 0.3 ? 0 : endStream), stream, after),
    ];
  }
  if (isEnded) return [...frames, frame(kinds.data, endStream, stream)];
  return frames;
}

/** Gives up in a way that never ends the stream properly, but for one: an end before the length that was promised. */
function giveUp(random: Random, { framing, ending }: Exchange, stream: number): Buffer[] {
  if (framing === "length" && ending !== "unread" && random() < 0.3)
    return [frame(kinds.data, endStream, stream)];
  const code = Buffer.alloc(4);
  code.writeUInt32BE(pick(random, [0, 0, 1, 5, 7, 8, 11]));
  const reset = frame(kinds.reset, 0, stream, code);
  // Bytes after the reset belong to nothing.
  return random() < 0.3 ? [reset, frame(kinds.data, endStream, stream, Buffer.from("late"))] : [reset];
}

export async function speakRawHttp2(
  random: Random,
  socket: Duplex,
  exchanges: readonly Exchange[],
): Promise<Told> {
  const told: Told = { answers: [], isStuck: false };
  const open = new Map<number, Exchange>();
  const bytes = new Map<number, number>();
  let next = 0;
  let begun: Buffer = Buffer.alloc(0);
  const width = pick(random, [1, 3, 8]);
  const end = (): void => void socket.end(() => socket.destroy());
  const send = (): void => {
    while (open.size < width && next < exchanges.length) {
      const exchange = exchanges[next]!;
      const stream = 1 + 2 * next;
      next += 1;
      open.set(stream, exchange);
      for (const one of streamFrames(random, exchange, stream)) socket.write(one);
      if (exchange.ending === "cut" || exchange.ending === "unread") {
        for (const one of giveUp(random, exchange, stream)) socket.write(one);
        open.delete(stream);
      }
    }
    if (open.size === 0 && next >= exchanges.length) end();
  };
  const take = (kind: number, flags: number, stream: number, payload: Buffer): void => {
    if (kind === kinds.settings && (flags & 1) === 0) socket.write(frame(kinds.settings, 1, 0));
    if (kind === kinds.ping && (flags & 1) === 0) socket.write(frame(kinds.ping, 1, 0, payload));
    if (kind === kinds.goAway) return end();
    if (kind === kinds.data && payload.length > 0) {
      const size = Buffer.alloc(4);
      size.writeUInt32BE(payload.length);
      socket.write(frame(kinds.windowUpdate, 0, 0, size));
      bytes.set(stream, (bytes.get(stream) ?? 0) + payload.length);
    }
    const isOver =
      kind === kinds.reset || ((kind === kinds.data || kind === kinds.headers) && (flags & endStream) !== 0);
    const exchange = open.get(stream);
    if (!isOver || exchange === undefined) return;
    open.delete(stream);
    if (kind !== kinds.reset)
      told.answers.push({
        exchange: undefined,
        status: 0,
        seen: undefined,
        size: undefined,
        bytes: bytes.get(stream) ?? 0,
      });
    if (exchange.ending === "cut-after-answer")
      for (const one of giveUp(random, exchange, stream)) socket.write(one);
    send();
  };
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      told.isStuck = exchanges.every(({ disguise }) => disguise === undefined);
      socket.destroy();
    }, patienceMs(exchanges));
    socket.on("error", () => undefined);
    socket.on("end", () => socket.destroy());
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.on("data", (chunk: Buffer) => {
      begun = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
      while (begun.length >= 9 && begun.length >= 9 + begun.readUIntBE(0, 3)) {
        const size = begun.readUIntBE(0, 3);
        const [kind, flags] = [begun[3]!, begun[4]!];
        const stream = begun.readUInt32BE(5) & 0x7fffffff;
        const payload = begun.subarray(9, 9 + size);
        begun = begun.subarray(9 + size);
        take(kind, flags, stream, payload);
      }
    });
    socket.write(preface);
    socket.write(frame(kinds.settings, 0, 0));
    send();
  });
  return told;
}
