/**
 * Git's extended diffs as rows. The text is made of what an agent wrote, so nothing in it is trusted: whatever is
 * given, this returns, and never more rows than it was allowed. Inside a hunk only the counts of its header say what
 * belongs to it, because a deleted line `-- a/x` looks like the header of another file.
 */

export type LineKind = "context" | "added" | "deleted";

export interface PatchLine {
  readonly kind: LineKind;
  /** Without the mark in front. */
  readonly text: string;
  readonly oldLine?: number;
  readonly newLine?: number;
  /** The file ends here without a newline. */
  hasNoNewline?: boolean;
}

export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** Git's heading of the hunk: mostly the name of a function. */
  readonly heading: string;
  readonly lines: PatchLine[];
}

export interface FilePatch {
  oldPath?: string;
  newPath?: string;
  oldMode?: string;
  newMode?: string;
  kind: "modified" | "added" | "deleted" | "renamed" | "copied";
  isBinary: boolean;
  /** Of a merge: several old sides in one. */
  isCombined: boolean;
  readonly hunks: Hunk[];
}

export interface Patch {
  readonly files: readonly FilePatch[];
  /** There was more than was allowed. */
  readonly isCut: boolean;
}

const maxPatchLines = 250_000;

export function parsePatch(text: string, maxLines = maxPatchLines): Patch {
  const parser = new PatchParser(maxLines);
  let start = 0;
  while (start < text.length && !parser.isFull) {
    const end = text.indexOf("\n", start);
    parser.take(text.slice(start, end === -1 ? text.length : end));
    start = end === -1 ? text.length : end + 1;
  }
  return { files: parser.files, isCut: parser.isFull };
}

const hunkHeader = /^(@{2,9})((?: -\d{1,9}(?:,\d{1,9})?){1,8}) \+(\d{1,9})(?:,(\d{1,9}))? \1 ?(.*)$/s;
const range = / -(\d{1,9})(?:,(\d{1,9}))?/;

class PatchParser {
  readonly files: FilePatch[] = [];
  isFull = false;
  readonly #maxLines: number;
  #rows = 0;
  #hunk: Hunk | undefined;
  /** Old sides of a combined diff, one otherwise: as many marks stand before each line. */
  #sides = 1;
  #oldLine = 0;
  #newLine = 0;
  #oldLeft = 0;
  #newLeft = 0;

  constructor(maxLines: number) {
    this.#maxLines = maxLines;
  }

  take(line: string): void {
    if (this.#rows >= this.#maxLines) {
      this.isFull = true;
      return;
    }
    if (line.startsWith("\\")) {
      const last = this.#hunk?.lines.at(-1);
      if (last !== undefined) last.hasNoNewline = true;
      return;
    }
    if (this.#hunk !== undefined && (this.#oldLeft > 0 || this.#newLeft > 0)) {
      if (this.#takeInHunk(this.#hunk, line)) return;
    }
    if (line.startsWith("@@") && this.#openHunk(line)) return;
    this.#takeHeader(line);
  }

  #takeInHunk(hunk: Hunk, line: string): boolean {
    const marks = line.slice(0, this.#sides).padEnd(this.#sides, " ");
    if (!/^[ +-]+$/.test(marks)) return false;
    const kind: LineKind = marks.includes("+") ? "added" : marks.includes("-") ? "deleted" : "context";
    const hasOld = kind !== "added";
    const hasNew = kind !== "deleted";
    hunk.lines.push({
      kind,
      text: line.slice(this.#sides),
      ...(hasOld ? { oldLine: this.#oldLine } : {}),
      ...(hasNew ? { newLine: this.#newLine } : {}),
    });
    this.#rows += 1;
    if (hasOld) {
      this.#oldLine += 1;
      this.#oldLeft -= 1;
    }
    if (hasNew) {
      this.#newLine += 1;
      this.#newLeft -= 1;
    }
    return true;
  }

  #openHunk(line: string): boolean {
    const match = hunkHeader.exec(line);
    const file = this.files.at(-1);
    if (match === null || file === undefined) return false;
    const [, marks = "@@", olds = "", newStart = "0", newCount = "1", heading = ""] = match;
    const [, oldStart = "0", oldCount = "1"] = range.exec(olds) ?? [];
    this.#sides = marks.length - 1;
    if (this.#sides > 1) file.isCombined = true;
    this.#hunk = { oldStart: Number(oldStart), newStart: Number(newStart), heading, lines: [] };
    file.hunks.push(this.#hunk);
    this.#rows += 1;
    this.#oldLine = Number(oldStart);
    this.#newLine = Number(newStart);
    this.#newLeft = Number(newCount);
    // Of a combined diff the marks tell what is old, and the new side's count alone ends the hunk.
    this.#oldLeft = this.#sides > 1 ? 0 : Number(oldCount);
    return true;
  }

  #takeHeader(line: string): void {
    if (line.startsWith("diff --git ") || /^diff --(cc|combined) /.test(line)) {
      this.#hunk = undefined;
      this.#rows += 1;
      this.files.push(openFile(line));
      return;
    }
    const file = this.files.at(-1);
    if (file === undefined) return;
    // A combined hunk may end with lines of the old sides, which no count announces.
    if (this.#sides > 1 && this.#hunk !== undefined && /^[ -]*-[ -]*/.test(line)) {
      this.#takeInHunk(this.#hunk, line);
      return;
    }
    if (this.#hunk === undefined) takeFact(file, line);
  }
}

function openFile(line: string): FilePatch {
  const file: FilePatch = {
    kind: "modified",
    isBinary: false,
    isCombined: !line.startsWith("diff --git "),
    hunks: [],
  };
  const paths = file.isCombined ? undefined : headerPaths(line.slice("diff --git ".length));
  const combined = file.isCombined ? unquote(line.replace(/^diff --(cc|combined) /, "")) : undefined;
  const [oldPath, newPath] = paths ?? [combined, combined];
  if (oldPath !== undefined) file.oldPath = oldPath;
  if (newPath !== undefined) file.newPath = newPath;
  return file;
}

const facts: readonly (readonly [RegExp, (file: FilePatch, value: string) => void])[] = [
  [/^old mode (\d{6})$/, (file, mode) => void (file.oldMode = mode)],
  [/^new mode (\d{6})$/, (file, mode) => void (file.newMode = mode)],
  [
    /^new file mode (\d{6})$/,
    (file, mode) => {
      file.newMode = mode;
      file.kind = "added";
      delete file.oldPath;
    },
  ],
  [
    /^deleted file mode (\d{6})$/,
    (file, mode) => {
      file.oldMode = mode;
      file.kind = "deleted";
      delete file.newPath;
    },
  ],
  [/^rename from (.+)$/s, (file, path) => void (file.oldPath = unquote(path))],
  [
    /^rename to (.+)$/s,
    (file, path) => {
      file.newPath = unquote(path);
      file.kind = "renamed";
    },
  ],
  [/^copy from (.+)$/s, (file, path) => void (file.oldPath = unquote(path))],
  [
    /^copy to (.+)$/s,
    (file, path) => {
      file.newPath = unquote(path);
      file.kind = "copied";
    },
  ],
  [/^(Binary files .* differ|GIT binary patch)$/s, (file) => void (file.isBinary = true)],
  [/^--- (.+)$/s, (file, path) => setSide(file, "oldPath", path)],
  [/^\+\+\+ (.+)$/s, (file, path) => setSide(file, "newPath", path)],
  [/^index [0-9a-f]+\.\.[0-9a-f]+ (\d{6})$/, (file, mode) => void (file.oldMode = file.newMode = mode)],
];

function takeFact(file: FilePatch, line: string): void {
  for (const [pattern, set] of facts) {
    const match = pattern.exec(line);
    if (match === null) continue;
    set(file, match[1] ?? "");
    return;
  }
}

function setSide(file: FilePatch, side: "oldPath" | "newPath", text: string): void {
  const path = unquote(text.replace(/\t$/, ""));
  if (path === "/dev/null") delete file[side];
  else file[side] = withoutPrefix(path);
}

const withoutPrefix = (path: string): string => path.replace(/^[abciow]\//, "");

/** `a/x b/x`: with spaces in the names only equal halves can be told apart, and only then git needs no other line. */
function headerPaths(text: string): readonly [string, string] | undefined {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/s.exec(text);
  if (quoted) return [withoutPrefix(unquote(quoted[1]!)), withoutPrefix(unquote(quoted[2]!))];
  const half = (text.length - 1) / 2;
  const [left, right] = [text.slice(0, half), text.slice(half + 1)];
  const isEqual = text[half] === " " && withoutPrefix(left) === withoutPrefix(right);
  return isEqual ? [withoutPrefix(left), withoutPrefix(right)] : undefined;
}

const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** A name in quotes has C's escapes in it, and bytes as octal numbers; together they are UTF-8. */
export function unquote(text: string): string {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [part] of text.slice(1, -1).matchAll(/\\[0-3][0-7]{2}|\\.|[^\\]+|\\/gs)) {
    if (/^\\[0-3]/.test(part) && part.length === 4) bytes.push(Number.parseInt(part.slice(1), 8));
    else if (part.startsWith("\\") && part.length > 1) {
      const escape = escapes[part.slice(1)];
      if (escape === undefined) for (const byte of encoder.encode(part.slice(1))) bytes.push(byte);
      else bytes.push(escape);
    } else for (const byte of encoder.encode(part)) bytes.push(byte);
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
