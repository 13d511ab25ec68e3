/**
 * Where one HTTP/1.1 message begins and ends on a socket, read from the bytes alone and strictly: a message with two
 * readings has no end here. It judges nothing else, and changes nothing.
 */

/** `broken`: it has no clear end, or bytes came after its end. */
type State = "head" | "body" | "chunk-size" | "chunk" | "chunk-end" | "trailers" | "whole" | "broken";

interface Framing {
  /** How many bytes the body has; undefined: the head does not say. */
  readonly body: number | "chunked" | undefined;
  /** The names in its Connection headers. */
  readonly connection: ReadonlySet<string>;
}

const maxHeadBytes = 128 * 1024;
const maxChunkLine = 18;
const endOfHead = "\r\n\r\n";
const requestLine = /^([A-Z][A-Z-]*) [\x21-\x7e]+ HTTP\/1\.1$/;
const statusLine = /^HTTP\/1\.1 ([1-5]\d\d)(?: [^\r\n]*)?$/;
const headerLine = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*([^\r\n\0]*)$/;
const lineEnd = "\r\n";

export class WireMessage {
  /** The method of a request, once its head is there. */
  method: string | undefined;
  readonly #isAnswerTo: (() => string | undefined) | undefined;
  #state: State = "head";
  #isLast = false;
  #left = 0;
  /** The beginning of a head, a chunk's line or a trailer section whose end has not come yet. */
  #begun = "";

  /** An answer is read with the method that it answers, because that decides whether it has a body. */
  constructor(isAnswerTo?: () => string | undefined) {
    this.#isAnswerTo = isAnswerTo;
  }

  /** It ended with the last byte that was read. */
  get isWhole(): boolean {
    return this.#state === "whole";
  }

  /** One of the two ends closes the connection after it, or it turns into another protocol. */
  get isLast(): boolean {
    return this.#isLast;
  }

  read(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length && this.#state !== "broken") at = this.#step(bytes, at);
  }

  /** Reads on from `at`; the result is where it stopped. */
  #step(bytes: Uint8Array, at: number): number {
    switch (this.#state) {
      case "head":
        return this.#section(bytes, at, endOfHead, (text) => this.#readHead(text));
      case "body":
        return this.#skip(bytes, at, "whole");
      case "chunk-size":
        return this.#section(bytes, at, lineEnd, (text) => this.#readChunkSize(text), maxChunkLine);
      case "chunk":
        return this.#skip(bytes, at, "chunk-end");
      case "chunk-end":
        return this.#section(bytes, at, lineEnd, (text) => this.#endChunk(text), maxChunkLine);
      case "trailers":
        return this.#section(bytes, at, lineEnd, (text) => this.#readTrailer(text));
      case "whole":
      case "broken":
        break;
    }
    // Bytes after its end: it has none.
    this.#break();
    return bytes.length;
  }

  #skip(bytes: Uint8Array, at: number, next: State): number {
    const taken = Math.min(this.#left, bytes.length - at);
    this.#left -= taken;
    if (this.#left === 0) this.#state = next;
    return at + taken;
  }

  /** Collects text up to and with `end`, and gives it on without. */
  #section(
    bytes: Uint8Array,
    at: number,
    end: string,
    take: (text: string) => void,
    maxBytes = maxHeadBytes,
  ): number {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
    const before = this.#begun.length;
    // The end may have begun in the piece before.
    const overlap = Math.min(before, end.length - 1);
    const seam = this.#begun.slice(before - overlap) + chunk.toString("latin1", 0, end.length);
    const inSeam = seam.indexOf(end);
    const inChunk = inSeam === -1 ? chunk.indexOf(end, 0, "latin1") : inSeam - overlap;
    if (inSeam === -1 && inChunk === -1) {
      this.#begun += chunk.toString("latin1", 0, maxBytes + 1);
      if (this.#begun.length > maxBytes) this.#break();
      return bytes.length;
    }
    const text = (this.#begun + chunk.toString("latin1", 0, Math.max(0, inChunk))).slice(0, before + inChunk);
    this.#begun = "";
    if (text.length > maxBytes) this.#break();
    else take(text);
    return at + inChunk + end.length;
  }

  #readHead(text: string): void {
    const lines = text.split(lineEnd);
    const first = lines[0]!;
    if (this.#isAnswerTo !== undefined) return this.#readAnswerHead(first, lines, this.#isAnswerTo());
    this.method = requestLine.exec(first)?.[1];
    const framing = this.method === undefined ? undefined : readFraming(lines);
    if (framing === undefined) return this.#break();
    const { body = 0, connection } = framing;
    this.#begin(body, connection.has("close") || connection.has("upgrade"));
  }

  #readAnswerHead(first: string, lines: readonly string[], method: string | undefined): void {
    const status = Number(statusLine.exec(first)?.[1]);
    // After 100, 102 and 103 the answer itself is still to come.
    if (status >= 100 && status < 200 && status !== 101) return;
    const framing = readFraming(lines);
    if (framing === undefined || method === undefined || Number.isNaN(status) || status === 101)
      return this.#break();
    const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
    const body = hasBody ? framing.body : 0;
    // A body that ends with the connection leaves nothing to be used again.
    if (body === undefined) this.#break();
    else this.#begin(body, framing.connection.has("close"));
  }

  #begin(body: number | "chunked", isLast: boolean): void {
    this.#isLast = isLast;
    this.#left = body === "chunked" ? 0 : body;
    if (body === "chunked") this.#state = "chunk-size";
    else this.#state = body === 0 ? "whole" : "body";
  }

  #readChunkSize(text: string): void {
    if (!/^[\da-f]{1,13}$/i.test(text)) return this.#break();
    this.#left = Number.parseInt(text, 16);
    this.#state = this.#left === 0 ? "trailers" : "chunk";
  }

  #endChunk(text: string): void {
    if (text === "") this.#state = "chunk-size";
    else this.#break();
  }

  #readTrailer(text: string): void {
    if (text === "") this.#state = "whole";
    else if (!headerLine.test(text)) this.#break();
  }

  #break(): void {
    this.#state = "broken";
    this.#begun = "";
  }
}

/** Undefined: it has two readings. */
function readFraming(lines: readonly string[]): Framing | undefined {
  const connection = new Set<string>();
  let body: Framing["body"];
  for (let i = 1; i < lines.length; i += 1) {
    const match = headerLine.exec(lines[i]!);
    if (match === null) return undefined;
    const name = match[1]!.toLowerCase();
    const value = match[2]!.trimEnd();
    if (name === "connection") {
      for (const token of value.toLowerCase().split(",")) connection.add(token.trim());
    } else if (name === "content-length" || name === "transfer-encoding") {
      if (body !== undefined) return undefined;
      if (name === "transfer-encoding") body = value.toLowerCase() === "chunked" ? "chunked" : undefined;
      else body = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
      if (body === undefined) return undefined;
    }
  }
  return { body, connection };
}
