import { parse } from "smol-toml";
import { type Path, formatPath } from "../path.ts";

export interface Position {
  /** Both counted from 1. */
  readonly line: number;
  readonly column: number;
}

interface Entry {
  readonly key: Position;
  readonly value: Position;
}

/** Where each key and value of a TOML text is; an unknown one has the position of its nearest known parent. */
export class TomlPositions {
  readonly #entries: ReadonlyMap<string, Entry>;

  constructor(entries: ReadonlyMap<string, Entry> = new Map()) {
    this.#entries = entries;
  }

  find(path: Path, part: "key" | "value"): Position {
    const own = this.#entries.get(formatPath(path));
    if (own) return own[part];
    for (let length = path.length - 1; length > 0; length--) {
      const parent = this.#entries.get(formatPath(path.slice(0, length)));
      if (parent) return parent.key;
    }
    return { line: 1, column: 1 };
  }

  has(path: Path): boolean {
    return this.#entries.has(formatPath(path));
  }
}

/**
 * Indexes a text that the TOML parser has accepted. It relies on that: it only has to find where things are, and
 * stops where it does not understand, which makes positions coarser but never wrong values.
 */
export function indexToml(text: string): TomlPositions {
  const scan = new Scan(text);
  scan.document();
  return new TomlPositions(scan.entries);
}

const maxKeyParts = 16;

class Scan {
  readonly entries = new Map<string, Entry>();
  readonly #text: string;
  readonly #lineStarts: number[] = [0];
  /** How many elements each array of tables has so far. */
  readonly #tableCounts = new Map<string, number>();
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith("\ufeff") ? 1 : 0;
    for (let i = text.indexOf("\n"); i !== -1; i = text.indexOf("\n", i + 1)) this.#lineStarts.push(i + 1);
  }

  document(): void {
    let table: Path = [];
    for (;;) {
      this.#skipBlank();
      if (this.#at >= this.#text.length) return;
      if (this.#text[this.#at] === "[") {
        const header = this.#header();
        if (!header) return;
        table = header;
      } else if (!this.#pair(table)) return;
    }
  }

  /** `[a.b]` or `[[a.b]]`; the path of the table that follows. */
  #header(): Path | undefined {
    const start = this.#position();
    const isArray = this.#text[this.#at + 1] === "[";
    this.#at += isArray ? 2 : 1;
    const keys = this.#key();
    if (!keys) return undefined;
    const path: (string | number)[] = [];
    for (const [i, key] of keys.entries()) {
      path.push(key);
      const name = formatPath(path);
      const isLast = i === keys.length - 1;
      if (isArray && isLast) {
        const count = this.#tableCounts.get(name) ?? 0;
        this.#tableCounts.set(name, count + 1);
        this.#note(path, start, start);
        path.push(count);
      } else {
        const count = this.#tableCounts.get(name);
        if (count !== undefined) path.push(count - 1);
      }
      this.#note(path, start, start);
    }
    while (this.#text[this.#at] === "]") this.#at++;
    return path;
  }

  /** `a.b = value`, in a table or an inline table. */
  #pair(table: Path): boolean {
    const start = this.#position();
    const keys = this.#key();
    if (!keys || this.#text[this.#at] !== "=") return false;
    this.#at++;
    this.#skipSpace();
    for (let i = 1; i < keys.length; i++) this.#note([...table, ...keys.slice(0, i)], start, start);
    return this.#value([...table, ...keys], start);
  }

  /** A dotted key, cut where no rule looks any deeper; undefined on other lines. */
  #key(): string[] | undefined {
    const keys: string[] = [];
    for (;;) {
      if (keys.length > maxKeyParts) keys.pop();
      this.#skipSpace();
      const start = this.#at;
      const first = this.#text[start];
      if (first === '"' || first === "'") {
        this.#skipString();
        keys.push(decodeKey(this.#text.slice(start, this.#at)));
      } else {
        while (/[A-Za-z0-9_-]/.test(this.#text[this.#at] ?? "")) this.#at++;
        if (this.#at === start) return undefined;
        keys.push(this.#text.slice(start, this.#at));
      }
      this.#skipSpace();
      if (this.#text[this.#at] !== ".") return keys;
      this.#at++;
    }
  }

  #value(path: Path, key?: Position): boolean {
    const start = this.#position();
    this.#note(path, key ?? start, start);
    switch (this.#text[this.#at] ?? "") {
      case '"':
      case "'":
        this.#skipString();
        return true;
      case "[":
        return this.#list("]", (index) => this.#value([...path, index]));
      case "{":
        return this.#list("}", () => this.#pair(path));
      default: {
        const before = this.#at;
        while (this.#at < this.#text.length && !/[,\]}#\n]/.test(this.#text[this.#at]!)) this.#at++;
        return this.#at > before;
      }
    }
  }

  /** The items of an array or inline table, up to `end`. */
  #list(end: string, item: (index: number) => boolean): boolean {
    this.#at++;
    for (let index = 0; ; index++) {
      this.#skipBlank(",");
      if (this.#at >= this.#text.length) return false;
      if (this.#text[this.#at] === end) {
        this.#at++;
        return true;
      }
      if (!item(index)) return false;
    }
  }

  #skipString(): void {
    const quote = this.#text[this.#at]!;
    const isLong = this.#text.startsWith(quote.repeat(3), this.#at);
    const end = isLong ? quote.repeat(3) : quote;
    this.#at += end.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(end, this.#at)) {
      this.#at += quote === '"' && this.#text[this.#at] === "\\" ? 2 : 1;
    }
    this.#at += end.length;
    // A long string may end in one or two quotes of its own.
    const furthest = this.#at + (isLong ? 2 : 0);
    while (this.#at < furthest && this.#text[this.#at] === quote) this.#at++;
  }

  #skipSpace(): void {
    while (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#at++;
  }

  #skipBlank(also = ""): void {
    for (; this.#at < this.#text.length; this.#at++) {
      const c = this.#text[this.#at]!;
      if (c === "#") {
        const end = this.#text.indexOf("\n", this.#at);
        this.#at = end === -1 ? this.#text.length : end;
      } else if (!/[ \t\r\n]/.test(c) && c !== also) return;
    }
  }

  #note(path: Path, key: Position, value: Position): void {
    const name = formatPath(path);
    if (!this.entries.has(name)) this.entries.set(name, { key, value });
  }

  #position(): Position {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#lineStarts[middle]! <= this.#at) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: this.#at - this.#lineStarts[low]! + 1 };
  }
}

/** The TOML parser itself says what a quoted key means. */
function decodeKey(raw: string): string {
  try {
    const value = parse(`k = ${raw}`)["k"];
    return typeof value === "string" ? value : raw;
  } catch {
    return raw;
  }
}
