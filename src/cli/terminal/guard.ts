/**
 * SECURITY: what a box prints reaches the person's own terminal. Some sequences act outside the screen: OSC 52
 * writes the clipboard, APC makes a terminal read host files (kitty graphics), DCS smuggles more through tmux.
 * Everything that draws passes; strings that are not on the short list of harmless ones are dropped.
 */
const harmlessOsc = /^(?:0|1|2|4|8|10|11|12|104|110|111|112|133)(?:;|$)/;
const maxKeptBytes = 8_192;

const ESC = 0x1b;
/** Introducers of OSC, DCS, SOS, PM and APC, after ESC. */
const introducers = new Set([0x5d, 0x50, 0x58, 0x5e, 0x5f]);
/** The same as single characters, the way they look in UTF-8 after 0xC2. */
const shortIntroducers = new Set([0x9d, 0x90, 0x98, 0x9e, 0x9f]);
const suspicious = /\u001b[\]PX^_]|\u00c2[\u0090\u0098\u009d\u009e\u009f]|\u001b$|\u00c2$/;

export class TerminalGuard {
  /** Bytes of a string sequence so far; undefined outside of one. */
  #string: number[] | undefined;
  #isDropped = false;
  /** An ESC or 0xC2 at the end of a chunk, whose meaning depends on the next byte. */
  #held: number | undefined;
  #isAlternate = false;

  /** Whether the screen is the alternate one now, so that leaving can undo it. */
  get isAlternate(): boolean {
    return this.#isAlternate;
  }

  push(chunk: Uint8Array): Uint8Array {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const text = buffer.toString("latin1");
    this.#watchScreen(text);
    if (this.#string === undefined && this.#held === undefined && !suspicious.test(text)) return chunk;
    return this.#filter(buffer);
  }

  #watchScreen(text: string): void {
    const on = Math.max(
      text.lastIndexOf("\u001b[?1049h"),
      text.lastIndexOf("\u001b[?47h"),
      text.lastIndexOf("\u001b[?1047h"),
    );
    const off = Math.max(
      text.lastIndexOf("\u001b[?1049l"),
      text.lastIndexOf("\u001b[?47l"),
      text.lastIndexOf("\u001b[?1047l"),
    );
    if (on !== off) this.#isAlternate = on > off;
  }

  #filter(buffer: Buffer): Uint8Array {
    const out: number[] = [];
    for (const byte of buffer) {
      const before = this.#held;
      this.#held = undefined;
      if (this.#string !== undefined) this.#inString(byte, before, out);
      else if (before !== undefined) this.#afterHeld(byte, before, out);
      else if (byte === ESC || byte === 0xc2) this.#held = byte;
      else out.push(byte);
    }
    return Uint8Array.from(out);
  }

  #afterHeld(byte: number, before: number, out: number[]): void {
    const opens = before === ESC ? introducers.has(byte) : shortIntroducers.has(byte);
    if (opens) {
      const isOsc = byte === 0x5d || byte === 0x9d;
      this.#string = [before, byte];
      this.#isDropped = !isOsc;
    } else if (byte === ESC) {
      out.push(before);
      this.#held = byte;
    } else out.push(before, byte);
  }

  #inString(byte: number, before: number | undefined, out: number[]): void {
    const kept = this.#string!;
    const isEnd =
      byte === 0x07 ||
      (before === ESC && byte === 0x5c) ||
      (before === 0xc2 && byte === 0x9c) ||
      byte === 0x18 ||
      byte === 0x1a;
    if (before !== undefined) kept.push(before);
    if (!isEnd && before === ESC && byte !== ESC) {
      // Any other escape ends the string as well; what follows is a sequence of its own.
      this.#string = undefined;
      this.#afterHeld(byte, ESC, out);
      return;
    }
    if (!isEnd && (byte === ESC || byte === 0xc2)) this.#held = byte;
    else kept.push(byte);
    if (kept.length > maxKeptBytes) {
      this.#isDropped = true;
      kept.length = 2;
    }
    if (!isEnd) return;
    this.#string = undefined;
    const body = String.fromCharCode(...kept.slice(2, 16));
    if (!this.#isDropped && harmlessOsc.test(body.replace(/[\u0007\u001b].*$/s, "")))
      for (const each of kept) out.push(each);
  }
}

/** Undoes what a session may have left behind: colours, hidden cursor, mouse reports, bracketed paste, key modes. */
export const resetSequence = (isAlternate: boolean): string =>
  `${isAlternate ? "\u001b[?1049l" : ""}\u001b[0m\u001b[?25h\u001b[?7h\u001b[?1l\u001b>` +
  "\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1004l\u001b[?1006l\u001b[?2004l\u001b[?2026l\u001b7\u001b[r\u001b8\u001b[<u";

/** Room for a screen that is about to be drawn: what the terminal shows moves into its scrollback. */
export const blankScreen = (rows: number): string => `\u001b[${rows};1H${"\n".repeat(rows)}\u001b[H`;
