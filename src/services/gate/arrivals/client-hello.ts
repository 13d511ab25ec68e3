/**
 * Reads the server name out of a TLS ClientHello, without trusting a byte of it: every length is checked against
 * what encloses it, and what does not fit is malformed. With encrypted hello the outer name is the one that is read.
 */

export type ClientHello =
  | { readonly kind: "incomplete" }
  | { readonly kind: "malformed" }
  | { readonly kind: "hello"; readonly serverName: string | undefined };

const incomplete: ClientHello = { kind: "incomplete" };
const malformed: ClientHello = { kind: "malformed" };

const handshakeRecord = 0x16;
const clientHelloMessage = 0x01;
const maxRecord = 16_384;

export const looksLikeTls = (bytes: Buffer): boolean =>
  bytes[0] === handshakeRecord && (bytes.length < 2 || bytes[1] === 0x03);

export function readClientHello(bytes: Buffer): ClientHello {
  const message = joinRecords(bytes);
  if (message === "malformed") return malformed;
  if (message.length < 4)
    return message.length > 0 && message[0] !== clientHelloMessage ? malformed : incomplete;
  if (message[0] !== clientHelloMessage) return malformed;
  const length = message.readUIntBE(1, 3);
  if (length > 65_536) return malformed;
  if (message.length < 4 + length) return incomplete;
  return parseHello(message.subarray(4, 4 + length));
}

/** The handshake bytes of all complete or partial records so far; a hello may be spread over several. */
function joinRecords(bytes: Buffer): Buffer | "malformed" {
  const parts: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (bytes[at] !== handshakeRecord) return parts.length > 0 ? Buffer.concat(parts) : "malformed";
    if (at + 1 < bytes.length && bytes[at + 1] !== 0x03) return "malformed";
    if (at + 5 > bytes.length) break;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > maxRecord) return "malformed";
    parts.push(bytes.subarray(at + 5, Math.min(bytes.length, at + 5 + length)));
    at += 5 + length;
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

function parseHello(body: Buffer): ClientHello {
  const reader = new Reader(body);
  reader.skip(2 + 32);
  const sessionId = reader.vector(1);
  const ciphers = reader.vector(2);
  const compressions = reader.vector(1);
  if (!sessionId || !ciphers || !compressions || ciphers.length < 2) return malformed;
  if (reader.left === 0) return { kind: "hello", serverName: undefined };
  const extensions = reader.vector(2);
  if (!extensions || reader.left !== 0) return malformed;
  return findServerName(new Reader(extensions));
}

function findServerName(extensions: Reader): ClientHello {
  let serverName: string | undefined;
  while (extensions.left > 0) {
    const type = extensions.uint16();
    const value = extensions.vector(2);
    if (type === undefined || value === undefined) return malformed;
    if (type !== 0) continue;
    const name = parseServerName(value);
    // SECURITY: two names would let us judge one while the server answers for the other.
    if (name === undefined || serverName !== undefined) return malformed;
    serverName = name;
  }
  return { kind: "hello", serverName };
}

function parseServerName(value: Buffer): string | undefined {
  const outer = new Reader(value);
  const list = outer.vector(2);
  if (!list || outer.left !== 0) return undefined;
  const entries = new Reader(list);
  const type = entries.uint8();
  const name = entries.vector(2);
  if (type !== 0 || !name || name.length === 0 || name.length > 255 || entries.left !== 0) return undefined;
  return name.toString("latin1");
}

/** Reads forward and never past the end; after a miss everything is undefined. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return Math.max(0, this.#bytes.length - this.#at);
  }

  skip(count: number): void {
    this.#at += count;
  }

  uint8(): number | undefined {
    return this.left < 1 ? undefined : this.#bytes.readUInt8(this.#at++);
  }

  uint16(): number | undefined {
    if (this.left < 2) return undefined;
    this.#at += 2;
    return this.#bytes.readUInt16BE(this.#at - 2);
  }

  vector(lengthBytes: 1 | 2): Buffer | undefined {
    const length = lengthBytes === 1 ? this.uint8() : this.uint16();
    if (length === undefined || this.left < length) return undefined;
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
