/** Both directions of `agentbox cp`. The box is hostile: what it sends goes through the tree writer, entry by entry. */
import { posix } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import type { Client, Stream } from "../../client/index.ts";
import type { StreamAnswer } from "../../contract/api/schemas.ts";
import { type SkippedEntry, openTreeWriter, readTree } from "../../host/safe-tree.ts";
import type { CopyPlan } from "./box-path.ts";

export interface Copied {
  readonly entries: number;
  readonly bytes: number;
  readonly skipped: readonly SkippedEntry[];
}

type Piece = { readonly answer: StreamAnswer } | { readonly chunk: Uint8Array };

/** Arriving entries in order, one at a time. Slow reading slows the box down. */
async function* piecesOf(stream: Stream): AsyncGenerator<Piece> {
  const waiting: Piece[] = [];
  let isClosed = false;
  let wake = () => {};
  const add = (piece: Piece) => {
    waiting.push(piece);
    if (waiting.length > 32) stream.pause();
    wake();
  };
  stream.onText((text) => add({ answer: JSON.parse(text) as StreamAnswer }));
  stream.onData((chunk) => add({ chunk }));
  stream.onClose(() => {
    isClosed = true;
    wake();
  });
  for (;;) {
    const next = waiting.shift();
    if (next !== undefined) yield next;
    else if (isClosed) return;
    else {
      stream.resume();
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
}

function throwIfFailed(answer: StreamAnswer): void {
  if (answer.type === "failed") throw AgentBoxError.fromBody(answer);
  if (answer.type === "error") throw AgentBoxError.fromBody(answer.error);
}

const cutShort = () =>
  new AgentBoxError("box.unreachable", "The connection ended before the copy was complete.");

type Entry = Extract<StreamAnswer, { type: "entry" }>;

/** In the stream a directory has no name and its contents start there; the writer wants one name above them all. */
function entryNames(): (entry: Entry) => Entry {
  let root: string | undefined;
  return (entry) => {
    root ??= entry.path === "" ? "root" : "";
    if (root === "") return entry;
    return { ...entry, path: entry.path === "" ? root : `${root}/${entry.path}` };
  };
}

export async function copyOut(client: Client, { box, boxPath, hostPath }: CopyPlan): Promise<Copied> {
  // SECURITY: the root gets the name the person asked for, never one that the box sends.
  await using writer = await openTreeWriter(hostPath, { name: posix.basename(boxPath) });
  // The stream comes last and is read at once: data that arrives without a listener is lost.
  const stream = await client.files(box, { op: "read", path: boxPath });
  const named = entryNames();
  try {
    for await (const piece of piecesOf(stream)) {
      if ("chunk" in piece) await writer.data(piece.chunk);
      else if (piece.answer.type === "entry") await writer.entry(named(piece.answer));
      else if (piece.answer.type === "end") return await writer.end();
      else throwIfFailed(piece.answer);
    }
    throw cutShort();
  } finally {
    stream.close();
  }
}

export async function copyIn(client: Client, { box, boxPath, hostPath }: CopyPlan): Promise<Copied> {
  const stream = await client.files(box, { op: "write", path: boxPath });
  const skipped: SkippedEntry[] = [];
  let drained = () => {};
  stream.onDrain(() => drained());
  const answered = lastAnswer(stream);
  try {
    // A refusal by the box ends the sending, too.
    let isRefused = false;
    answered.catch(() => (isRefused = true));
    for await (const item of readTree(hostPath)) {
      if (isRefused) break;
      if (item.type === "entry") stream.sendText(JSON.stringify({ type: "entry", ...item.entry }));
      else if (item.type === "skipped") skipped.push(item.skipped);
      else if (!stream.sendData(item.chunk)) {
        await Promise.race([
          new Promise<void>((resolve) => (drained = resolve)),
          answered.catch(() => undefined),
        ]);
      }
    }
    stream.sendText(JSON.stringify({ type: "end" }));
    const { entries = 0, bytes = 0 } = await answered;
    return { entries, bytes, skipped };
  } finally {
    stream.close();
  }
}

async function lastAnswer(stream: Stream): Promise<Extract<StreamAnswer, { type: "end" }>> {
  for await (const piece of piecesOf(stream)) {
    if (!("answer" in piece)) continue;
    throwIfFailed(piece.answer);
    if (piece.answer.type === "end") return piece.answer;
  }
  throw cutShort();
}
