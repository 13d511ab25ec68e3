/** Moves the bytes of a body with back pressure: never more in memory than one stream buffer. */
import type { Readable } from "node:stream";

/** The part of a stream that takes bytes; HTTP messages of both versions have it. */
interface Sink {
  write(chunk: Buffer): boolean;
  on(event: "drain", listener: () => void): unknown;
}

/** Moves bytes with back pressure and counts them; how it ends is the caller's business. */
export function pump(source: Readable, sink: Sink, onBytes: (count: number) => void): void {
  let isWaiting = false;
  source.on("data", (chunk: Buffer) => {
    onBytes(chunk.length);
    if (sink.write(chunk)) return;
    source.pause();
    if (isWaiting) return;
    isWaiting = true;
    sink.on("drain", () => source.resume());
  });
}
