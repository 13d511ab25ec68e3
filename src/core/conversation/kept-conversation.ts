/**
 * The conversation of one box, kept on the host as a log of entries that the box cannot change. It is bounded like every log
 * of the box: the oldest entries go. Entries have numbers that grow by one, so a reader goes on where it was.
 */
import { parseJson } from "../../base/json.ts";
import type { ConversationEntry, ConversationPart } from "../../contract/conversation.ts";
import type { BoxLogs } from "../../ports/logs.ts";
import { type Amount, minus, zeroAmount } from "../budget/amount.ts";

/** No session or service can have this name. */
const conversationSource = "agentbox:conversation";

/** The newest entries, for readers that follow: they cost no reading of a file. */
const maxRecent = { entries: 256, bytes: 512 * 1024 };

const maxPieceLength = 256 * 1024;

/** An addition: an entry without its numbers. The end of a turn comes with all that the box has spent until then. */
export type Addition = { readonly atMs: number; readonly part: ConversationPart; readonly spent?: Amount };

/** The fields of a line of the log besides the entry, for the daemon that reads it later. */
type Line = ConversationEntry & { readonly spent?: Amount };

export interface ConversationQuery {
  /** Only entries with a greater number, the oldest first. */
  readonly after?: number | undefined;
  /** The newest entries with a smaller number. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export class KeptConversation {
  readonly #logs: BoxLogs;
  readonly #box: string;
  readonly #waiting: Addition[] = [];
  #recent: ConversationEntry[] = [];
  #recentBytes: number[] = [];
  #firstSeq = 0;
  #lastSeq = 0;
  #turn = 0;
  #turnStartedMs = 0;
  #spent = zeroAmount;
  #isLoaded = false;
  #work: Promise<void> | undefined;

  constructor(logs: BoxLogs, box: string) {
    this.#logs = logs;
    this.#box = box;
  }

  /** Resolves when it is on the disk. Additions are written in their order, and those of one moment together. */
  add(addition: Addition): Promise<void> {
    this.#waiting.push(addition);
    return this.#settled();
  }

  async read({ after, before, limit }: ConversationQuery): Promise<{
    readonly entries: readonly ConversationEntry[];
    readonly firstSeq: number;
    readonly lastSeq: number;
  }> {
    await this.#settled();
    const from = after === undefined ? undefined : after + 1;
    const isRecent = from !== undefined && from >= (this.#recent[0]?.seq ?? this.#lastSeq + 1);
    const all = isRecent ? this.#recent : (await this.#readLines()).map(withoutSpent);
    const wanted = all.filter(({ seq }) => seq >= (from ?? 0) && seq < (before ?? Number.POSITIVE_INFINITY));
    const entries = from === undefined ? wanted.slice(-limit) : wanted.slice(0, limit);
    if (!isRecent) this.#firstSeq = all[0]?.seq ?? 0;
    return { entries, firstSeq: this.#firstSeq, lastSeq: this.#lastSeq };
  }

  /** The newest entries, without those that are still being written. */
  async recent(): Promise<readonly ConversationEntry[]> {
    await this.#settled();
    return this.#recent;
  }

  async #settled(): Promise<void> {
    while (this.#work !== undefined || this.#waiting.length > 0 || !this.#isLoaded) {
      this.#work ??= this.#write().finally(() => (this.#work = undefined));
      await this.#work;
    }
  }

  async #write(): Promise<void> {
    if (!this.#isLoaded) await this.#load();
    let text = "";
    // SECURITY: a log makes room between pieces, so a piece must be small beside it.
    while (text.length < maxPieceLength && this.#waiting.length > 0)
      text += `${JSON.stringify(this.#number(this.#waiting.shift()!))}\n`;
    if (text === "") return;
    // A start of the box counts its logs from zero again.
    const offset = await this.#logs.recordedBytes(this.#box, conversationSource);
    await this.#logs.append(this.#box, conversationSource, offset, Buffer.from(text));
  }

  #number({ atMs, part, spent }: Addition): Line {
    this.#lastSeq += 1;
    if (this.#firstSeq === 0) this.#firstSeq = 1;
    const isAsked = part.kind === "asked" || (part.kind === "message" && part.role === "person");
    if (isAsked || this.#turn === 0) {
      this.#turn += 1;
      this.#turnStartedMs = atMs;
    }
    const entry = { seq: this.#lastSeq, atMs, turn: this.#turn, ...this.#counted(part, atMs, spent) };
    this.#remember(entry);
    return spent === undefined ? entry : { ...entry, spent };
  }

  /** The part of a turn's end that is known only here: its share of what the box has spent. */
  #counted(part: ConversationPart, atMs: number, spent: Amount | undefined): ConversationPart {
    if (part.kind !== "turn_ended" || spent === undefined) return part;
    const { tokens, microUsd } = minus(spent, this.#spent);
    this.#spent = spent;
    return {
      ...part,
      tokens: Math.max(0, tokens),
      costMicroUsd: Math.max(0, Math.round(microUsd)),
      durationMs: Math.max(0, atMs - this.#turnStartedMs),
    };
  }

  #remember(entry: ConversationEntry): void {
    this.#recent.push(entry);
    this.#recentBytes.push(JSON.stringify(entry).length);
    let bytes = this.#recentBytes.reduce((sum, size) => sum + size, 0);
    while (this.#recent.length > maxRecent.entries || (bytes > maxRecent.bytes && this.#recent.length > 1)) {
      this.#recent.shift();
      bytes -= this.#recentBytes.shift() ?? 0;
    }
  }

  async #load(): Promise<void> {
    const lines = await this.#readLines();
    for (const line of lines) {
      if (line.turn !== this.#turn) this.#turnStartedMs = line.atMs;
      this.#turn = line.turn;
      if (line.spent !== undefined) this.#spent = line.spent;
    }
    for (const line of lines.slice(-maxRecent.entries)) this.#remember(withoutSpent(line));
    this.#firstSeq = lines[0]?.seq ?? 0;
    this.#lastSeq = lines.at(-1)?.seq ?? 0;
    this.#isLoaded = true;
  }

  async #readLines(): Promise<Line[]> {
    const kept = await this.#logs.read(this.#box, conversationSource, {});
    return Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength)
      .toString()
      .split("\n")
      .map((line) => parseJson(line) as Line | undefined)
      .filter((line): line is Line => line !== undefined && typeof line.seq === "number");
  }
}

const withoutSpent = ({ spent: _spent, ...entry }: Line): ConversationEntry => entry;
