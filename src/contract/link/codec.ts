/**
 * Frames on every link connection: length (u32, big endian, of what follows), kind (u8), payload. No zod and no
 * Node types in here: boxd must boot fast, and a browser can read the same bytes.
 */
export const frameKind = { json: 0, data: 1, stderr: 2, eof: 3 } as const;
export type FrameKind = (typeof frameKind)[keyof typeof frameKind];

export interface Frame {
  readonly kind: FrameKind;
  readonly payload: Uint8Array;
}

/** SECURITY: the box writes the length; without a ceiling it could make the host reserve gigabytes. */
export const maxFrameBytes = 1 << 20;
/** SECURITY: a frame sent byte by byte would cost a hundred times its size in small chunks; so many are merged. */
const maxChunks = 1024;
/** Data is cut into frames of at most this size, so that one stream cannot hold up a connection. */
export const maxDataBytes = 256 * 1024;

const text = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

export function encodeFrame(kind: FrameKind, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(5 + payload.length);
  new DataView(frame.buffer).setUint32(0, payload.length + 1);
  frame[4] = kind;
  frame.set(payload, 5);
  return frame;
}

export const encodeJson = (value: unknown): Uint8Array =>
  encodeFrame(frameKind.json, text.encode(JSON.stringify(value)));

/** Five bytes that announce a payload, for writers that do not want to copy it. */
export function frameHeader(kind: FrameKind, payloadBytes: number): Uint8Array {
  const header = new Uint8Array(5);
  new DataView(header.buffer).setUint32(0, payloadBytes + 1);
  header[4] = kind;
  return header;
}

/** Throws on anything that is not JSON text in UTF-8. */
export const decodeJson = (payload: Uint8Array): unknown => JSON.parse(decoder.decode(payload));

class FrameError extends Error {}

/** Turns chunks into frames; throws FrameError on a length or kind that cannot be. */
export class FrameReader {
  #chunks: Uint8Array[] = [];
  #buffered = 0;

  *push(chunk: Uint8Array): Generator<Frame> {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    if (this.#chunks.length > maxChunks) this.#chunks = [concat(this.#chunks, this.#buffered)];
    while (this.#buffered >= 5) {
      const head = this.#peek(5);
      const length = new DataView(head.buffer, head.byteOffset, 5).getUint32(0);
      if (length < 1 || length > maxFrameBytes) throw new FrameError(`frame of ${length} bytes`);
      const kind = head[4]!;
      if (kind > 3) throw new FrameError(`frame of kind ${kind}`);
      if (this.#buffered < 4 + length) return;
      const frame = this.#take(4 + length);
      yield { kind: kind as FrameKind, payload: frame.subarray(5) };
    }
  }

  #peek(bytes: number): Uint8Array {
    if (this.#chunks[0]!.length < bytes) this.#chunks = [concat(this.#chunks, this.#buffered)];
    return this.#chunks[0]!.subarray(0, bytes);
  }

  #take(bytes: number): Uint8Array {
    if (this.#chunks[0]!.length < bytes) this.#chunks = [concat(this.#chunks, this.#buffered)];
    const first = this.#chunks[0]!;
    this.#buffered -= bytes;
    if (first.length === bytes) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(bytes);
    return first.subarray(0, bytes);
  }
}

function concat(chunks: readonly Uint8Array[], total: number): Uint8Array {
  const whole = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
