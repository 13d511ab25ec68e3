/** A whole body in memory, for a head that depends on it: bounded for one request and for all of the box together. */
import type { Readable } from "node:stream";
import { maxHeldBytes } from "../../../ports/injection.ts";
import type { Quota } from "../box/quota.ts";

export interface HeldBody {
  readonly bytes: Buffer;
  /** It has been sent, or never will be. */
  release(): void;
}

/** Why a body is not held: it is larger than may be, or the box holds enough already. */
export type HoldProblem = "too-large" | "no-room";

export interface HoldEvents {
  readonly onBytes: (count: number) => void;
  readonly onHeld: (body: HeldBody) => void;
  readonly onProblem: (problem: HoldProblem) => void;
}

/** The result gives up: what was held is forgotten, and nothing more is told. */
export function holdBody(source: Readable, quota: Quota, events: HoldEvents): () => void {
  let chunks: Buffer[] = [];
  let size = 0;
  let isOver = false;
  const release = (): void => {
    chunks = [];
    quota.give(size);
    size = 0;
  };
  const giveUp = (): void => {
    if (!isOver) release();
    isOver = true;
  };
  const refuse = (problem: HoldProblem): void => {
    giveUp();
    events.onProblem(problem);
  };
  source.on("data", (chunk: Buffer) => {
    if (isOver) return;
    if (size + chunk.length > maxHeldBytes) return refuse("too-large");
    if (!quota.take(chunk.length)) return refuse("no-room");
    size += chunk.length;
    chunks.push(chunk);
    events.onBytes(chunk.length);
  });
  source.on("end", () => {
    if (isOver) return;
    isOver = true;
    events.onHeld({ bytes: Buffer.concat(chunks), release });
  });
  return giveUp;
}
