/** Everything between the top and the bottom of the diff as one list of rows, of which only those on the screen are drawn. */
import type { Change } from "../../../../src/contract/review/change.ts";
import type { ReviewComment } from "../../../../src/contract/review/comment.ts";
import type { Danger, DangerKind } from "../../../../src/contract/review/danger.ts";
import type { CommentRange } from "../comments/comments.tsx";
import type { FilePatch, Hunk, PatchLine } from "./patch.ts";

export type PatchState =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: unknown }
  | { readonly state: "ready"; readonly files: readonly FilePatch[]; readonly isCut: boolean };

interface InFile {
  readonly key: string;
  readonly change: Change;
}

export interface LineRow extends InFile {
  readonly type: "line";
  readonly hunk: Hunk;
  readonly line: PatchLine;
  /** The line it replaces, or is replaced by. */
  readonly other?: PatchLine | undefined;
}

export interface PairRow extends InFile {
  readonly type: "pair";
  readonly hunk: Hunk;
  readonly left?: PatchLine | undefined;
  readonly right?: PatchLine | undefined;
}

export type Row =
  | (InFile & { readonly type: "file" })
  | (InFile & { readonly type: "wait"; readonly isLarge: boolean; readonly isLoading: boolean })
  | (InFile & { readonly type: "note"; readonly text: string })
  | (InFile & { readonly type: "error"; readonly error: unknown })
  | (InFile & { readonly type: "hunk"; readonly hunk: Hunk })
  | LineRow
  | PairRow
  | DangerRow
  | (InFile & {
      readonly type: "comment";
      readonly comment: ReviewComment;
      readonly original: string | undefined;
    })
  | (InFile & { readonly type: "form"; readonly range: CommentRange; readonly original: string | undefined });

export interface DangerRow extends InFile {
  readonly type: "danger";
  readonly danger: Danger;
  /** How many of its kind there are in all of the work. */
  readonly count: number;
}

export interface RowsQuery {
  readonly files: readonly Change[];
  readonly patches: ReadonlyMap<string, PatchState>;
  readonly isSplit: boolean;
  readonly folded: ReadonlySet<string>;
  readonly comments: readonly ReviewComment[];
  readonly dangers: readonly Danger[];
  readonly form?: CommentRange | undefined;
}

/** A larger file is fetched only when the user asks for it. */
const largeLines = 3_000;

export function rowsOf({ files, patches, isSplit, folded, comments, dangers, form }: RowsQuery): Row[] {
  const remarks = new Remarks(comments, dangers);
  const rows: Row[] = [];
  for (const change of files) {
    const { path } = change;
    rows.push({ type: "file", key: `${path}\0`, change });
    if (folded.has(path)) continue;
    const body = bodyOf(change, patches.get(path), isSplit);
    const own = remarks.of(change, body, form?.path === path ? form : undefined);
    if (own.length === 0) {
      for (const row of body) rows.push(row);
      continue;
    }
    withRemarks(rows, body, own);
  }
  return rows;
}

/** Something that stands under a line of the diff, or under the head of its file. */
interface Remark {
  readonly line: number | undefined;
  readonly row: Row;
}

/** The row of a danger, by which it is found again. */
export const dangerKey = (danger: Danger, index: number): string => `${danger.path}\0danger ${index}`;

class Remarks {
  readonly #comments = new Map<string, ReviewComment[]>();
  readonly #dangers = new Map<string, { danger: Danger; index: number }[]>();
  readonly #counts = new Map<DangerKind, number>();

  constructor(comments: readonly ReviewComment[], dangers: readonly Danger[]) {
    for (const comment of comments) addTo(this.#comments, comment.path, comment);
    for (const [index, danger] of dangers.entries()) {
      addTo(this.#dangers, danger.path, { danger, index });
      this.#counts.set(danger.kind, (this.#counts.get(danger.kind) ?? 0) + 1);
    }
  }

  of(change: Change, body: readonly Row[], form: CommentRange | undefined): Remark[] {
    const { path } = change;
    const remarks: Remark[] = (this.#dangers.get(path) ?? []).map(({ danger, index }) => {
      const count = this.#counts.get(danger.kind) ?? 1;
      return {
        line: danger.line,
        row: { type: "danger", key: dangerKey(danger, index), change, danger, count },
      };
    });
    for (const comment of this.#comments.get(path) ?? []) {
      const [key, original] = [`${path}\0comment ${comment.id}`, linesOf(body, comment)];
      remarks.push({ line: lastOf(comment), row: { type: "comment", key, change, comment, original } });
    }
    if (form !== undefined) {
      const [key, original] = [`${path}\0form ${form.line} ${form.endLine}`, linesOf(body, form)];
      remarks.push({ line: lastOf(form), row: { type: "form", key, change, range: form, original } });
    }
    return remarks;
  }
}

const lastOf = ({ line, endLine }: Pick<CommentRange, "line" | "endLine">) => endLine ?? line;

/** The text of these lines; undefined where the diff does not show all of them. */
function linesOf(
  body: readonly Row[],
  { line, endLine = line }: Pick<CommentRange, "line" | "endLine">,
): string | undefined {
  if (line === undefined || endLine === undefined) return undefined;
  const texts: string[] = [];
  for (const row of body) {
    const shown = row.type === "line" ? row.line : row.type === "pair" ? row.right : undefined;
    const at = shown?.newLine;
    if (shown !== undefined && at !== undefined && at >= line && at <= endLine) texts.push(shown.text);
  }
  return texts.length === endLine - line + 1 ? texts.join("\n") : undefined;
}

function addTo<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** The line of the new content that a row shows. */
export const newLineOf = (row: Row): number | undefined =>
  row.type === "line" ? row.line.newLine : row.type === "pair" ? row.right?.newLine : undefined;

function withRemarks(rows: Row[], body: readonly Row[], remarks: readonly Remark[]): void {
  const shown = new Set(body.map(newLineOf));
  const below = new Map<number, Row[]>();
  for (const { line, row } of remarks) {
    // About the file as a whole, or about a line that this diff does not show.
    if (line === undefined || !shown.has(line)) rows.push(row);
    else below.set(line, [...(below.get(line) ?? []), row]);
  }
  for (const row of body) {
    rows.push(row);
    const line = newLineOf(row);
    const own = line === undefined ? undefined : below.get(line);
    if (line === undefined || own === undefined) continue;
    below.delete(line);
    for (const remark of own) rows.push(remark);
  }
}

function bodyOf(change: Change, patch: PatchState | undefined, isSplit: boolean): readonly Row[] {
  const { path } = change;
  if (patch === undefined || patch.state === "loading") {
    const isLarge = change.added + change.deleted > largeLines;
    return [{ type: "wait", key: `${path}\0wait`, change, isLarge, isLoading: patch !== undefined }];
  }
  if (patch.state === "failed") return [{ type: "error", key: `${path}\0error`, change, error: patch.error }];
  return patchRows(change, patch, isSplit);
}

const made = new WeakMap<PatchState, { split?: readonly Row[]; unified?: readonly Row[] }>();

function patchRows(change: Change, patch: PatchState & { state: "ready" }, isSplit: boolean): readonly Row[] {
  let kept = made.get(patch);
  if (kept === undefined) made.set(patch, (kept = {}));
  const key = isSplit ? "split" : "unified";
  return (kept[key] ??= makeRows(change, patch, isSplit));
}

function makeRows(change: Change, patch: PatchState & { state: "ready" }, isSplit: boolean): Row[] {
  const rows: Row[] = [];
  const key = () => `${change.path}\0${rows.length}`;
  const note = (text: string) => rows.push({ type: "note", key: key(), change, text });
  for (const text of notesOf(change)) note(text);
  for (const { hunks, isBinary, isCombined } of patch.files) {
    if (isBinary) note("Binary files cannot be shown as lines.");
    if (isCombined) note("A merge of several sides.");
    for (const hunk of hunks) {
      rows.push({ type: "hunk", key: key(), change, hunk });
      if (isSplit) {
        for (const { left, right } of pairsOf(hunk.lines))
          rows.push({ type: "pair", key: key(), change, hunk, left, right });
      } else {
        const others = othersOf(hunk.lines);
        for (const line of hunk.lines)
          rows.push({ type: "line", key: key(), change, hunk, line, other: others.get(line) });
      }
    }
  }
  if (patch.isCut) note("Too large to show here. See all of it with: agentbox diff");
  if (rows.length === 0) note("Its content is unchanged.");
  return rows;
}

/** A note that is no line of the diff. */
export function notesOf({ kind, oldMode, newMode, oldPath, newId, isBinary, bytes }: Change): string[] {
  const notes: string[] = [];
  if (kind === "renamed") notes.push(`Renamed from ${oldPath ?? "another name"}.`);
  if (kind === "copied") notes.push(`Copied from ${oldPath ?? "another file"}.`);
  if (newMode === "120000")
    notes.push("A symbolic link: the line below is where it leads, not what it holds.");
  if (newMode === "160000" || oldMode === "160000")
    notes.push(
      `A submodule: another repository, at commit ${newId.slice(0, 12)}. Its files are not shown here.`,
    );
  if (newMode === "100755" && oldMode !== "100755") notes.push("Now executable.");
  if (oldMode === "100755" && newMode === "100644") notes.push("No longer executable.");
  if (kind === "type_changed") notes.push("The kind of file changed: the old content, then the new.");
  if (isBinary) notes.push(`${bytes.toLocaleString("en-US")} bytes, not text.`);
  return notes;
}

interface Pair {
  readonly left?: PatchLine | undefined;
  readonly right?: PatchLine | undefined;
}

/** Deleted lines beside the added ones that follow them. */
export function pairsOf(lines: readonly PatchLine[]): Pair[] {
  const pairs: Pair[] = [];
  let deleted: PatchLine[] = [];
  let added: PatchLine[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(deleted.length, added.length); at += 1)
      pairs.push({ left: deleted[at], right: added[at] });
    deleted = [];
    added = [];
  };
  for (const line of lines) {
    if (line.kind === "added") added.push(line);
    else if (line.kind === "deleted") {
      if (added.length > 0) flush();
      deleted.push(line);
    } else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}

function othersOf(lines: readonly PatchLine[]): Map<PatchLine, PatchLine> {
  const others = new Map<PatchLine, PatchLine>();
  for (const { left, right } of pairsOf(lines)) {
    if (left === undefined || right === undefined || left === right) continue;
    others.set(left, right);
    others.set(right, left);
  }
  return others;
}
