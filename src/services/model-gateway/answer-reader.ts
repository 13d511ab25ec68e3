/**
 * Reads usage and the reason of the end on the side of an answer that passes through. Lines are looked at only when
 * they hold a key that says something, found by a search over bytes; the rest of a stream is never parsed.
 */
import { type JsonObject, asObjects, isObject, parseJson } from "./json.ts";
import type { Learned, ModelLanguage } from "./language.ts";

export interface AnswerReader {
  push(chunk: Buffer): void;
  /** The result when the answer has ended. */
  end(): Learned;
}

const lineFeed = 10;
const space = 32;
const letterN = 110;
/** Enough for the last events of any stream; the newest lines are kept however long they are. */
const tailBytes = 16 * 1024;

/** By what the vendor says it sends; what cannot be read passes all the same. */
export function readAnswer(
  language: ModelLanguage,
  headers: { readonly "content-type"?: string | undefined; readonly "content-encoding"?: string | undefined },
  maxBytes: number,
): AnswerReader {
  const packing = headers["content-encoding"] ?? "identity";
  if (packing !== "identity" && packing !== "") return { push: () => undefined, end: () => ({}) };
  const type = headers["content-type"] ?? "";
  return type.startsWith("text/event-stream")
    ? new StreamReader(language, maxBytes)
    : new DocumentReader(language, maxBytes);
}

class DocumentReader implements AnswerReader {
  readonly #language: ModelLanguage;
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(language: ModelLanguage, maxBytes: number) {
    this.#language = language;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#maxBytes) this.#chunks.push(chunk);
    else this.#chunks.length = 0;
  }

  end(): Learned {
    const document = parseJson(Buffer.concat(this.#chunks).toString());
    // Gemini streams a list of events where the client did not ask for SSE.
    const events = isObject(document) ? [document] : asObjects(document);
    return events.reduce((before, event) => this.#language.learn(before, event), {} as Learned);
  }
}

class StreamReader implements AnswerReader {
  readonly #language: ModelLanguage;
  readonly #maxBytes: number;
  readonly #early: readonly Buffer[];
  /** The last lines of the stream, in the pieces they came in. */
  readonly #tail: Buffer[] = [];
  #tailBytes = 0;
  /** A line whose end has not come yet. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #learned: Learned = {};

  constructor(language: ModelLanguage, maxBytes: number) {
    this.#language = language;
    this.#maxBytes = maxBytes;
    this.#early = language.early.map((marker) => Buffer.from(marker));
  }

  push(chunk: Buffer): void {
    let start = 0;
    if (this.#begunBytes > 0) {
      start = chunk.indexOf(lineFeed) + 1;
      if (start === 0) return this.#begin(chunk);
      this.#begin(chunk.subarray(0, start));
      this.#finishLine();
    }
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end > start) this.#take(chunk.subarray(start, end));
    if (end < chunk.length) this.#begin(Buffer.from(chunk.subarray(end)));
  }

  end(): Learned {
    this.#finishLine();
    const lines = Buffer.concat(this.#tail);
    return this.#language.late.reduce((before, marker) => {
      const line = lastLine(lines, marker);
      return line === undefined ? before : this.#read(before, line);
    }, this.#learned);
  }

  /** A line that is longer than anything a vendor sends is passed on and not read. */
  #begin(piece: Buffer): void {
    this.#begunBytes += piece.length;
    if (this.#begunBytes <= this.#maxBytes) this.#begun.push(piece);
    else this.#begun = [];
  }

  #finishLine(): void {
    if (this.#begun.length > 0) this.#take(Buffer.concat(this.#begun));
    this.#begun = [];
    this.#begunBytes = 0;
  }

  /** Takes whole lines in. */
  #take(lines: Buffer): void {
    for (const marker of this.#early) this.#scan(lines, marker);
    this.#tail.push(lines);
    this.#tailBytes += lines.length;
    while (this.#tailBytes - this.#tail[0]!.length >= tailBytes)
      this.#tailBytes -= this.#tail.shift()!.length;
  }

  #scan(lines: Buffer, marker: Buffer): void {
    let at = lines.indexOf(marker);
    while (at !== -1) {
      let next = at + marker.length;
      if (!isNull(lines, next)) {
        const line = lineAround(lines, at);
        this.#learned = this.#read(this.#learned, line);
        next = line.byteOffset - lines.byteOffset + line.length;
      }
      at = lines.indexOf(marker, next);
    }
  }

  #read(before: Learned, line: Buffer): Learned {
    const text = line.toString();
    const event = text.startsWith("data:") ? parseJson(text.slice(5)) : undefined;
    return isObject(event) ? this.#language.learn(before, event) : before;
  }
}

function lastLine(lines: Buffer, marker: string): Buffer | undefined {
  let at = lines.lastIndexOf(marker);
  while (at > 0 && isNull(lines, at + marker.length)) at = lines.lastIndexOf(marker, at - 1);
  return at <= 0 ? undefined : lineAround(lines, at);
}

function lineAround(lines: Buffer, at: number): Buffer {
  const end = lines.indexOf(lineFeed, at);
  return lines.subarray(lines.lastIndexOf(lineFeed, at) + 1, end === -1 ? lines.length : end);
}

/** Vendors write `"usage":null` into every event before the last. */
function isNull(lines: Buffer, after: number): boolean {
  let at = after;
  while (lines[at] === space) at += 1;
  return lines[at] === letterN;
}

/** The message of an error document. */
export function readFailure(language: ModelLanguage, text: string): string | undefined {
  const document = parseJson(text);
  const event: JsonObject | undefined = isObject(document) ? document : asObjects(document)[0];
  return event === undefined ? undefined : language.learn({}, event).error;
}
