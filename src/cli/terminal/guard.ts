import {
  allowedCsi,
  allowedEscape,
  allowedOsc,
  closedLink,
  endOfFrequent,
  isAllowedControl,
  type AllowedCsi,
} from "./allowed-sequences.ts";
import { TerminalParser } from "./parser.ts";

const alternateScreens = new Set(["47", "1047", "1049"]);
const shiftOut = 0x0e;
/** Sequences that draw, move and ask, and leave no mode that would have to be undone. */
const passing = new Set("@ABCDEFGILMPSTXZ`abdeHfJKmsun".split(""));
/** Not a state but an act: the cursor goes to where it was saved. */
const savedCursor = "1048";
/** More of them than a program nests; a box could fill the terminal's memory with them. */
const maxKeyModes = 16;

/**
 * SECURITY: what a box prints reaches the person's own terminal. It is read as a terminal reads it, and written anew
 * from what was read and is allowed. What the box leaves behind is known, so that it can be undone.
 */
export class TerminalGuard {
  readonly #parser = new TerminalParser({
    skip: (bytes, at) => endOfFrequent(bytes, at),
    text: (run) => this.#add(run),
    control: (code) => isAllowedControl(code) && this.#change(String.fromCharCode(code), code === shiftOut),
    escape: (intermediates, final) => this.#escape(intermediates, final),
    csi: (sequence) => this.#csi(allowedCsi(sequence)),
    osc: (body, isEndedByBell) => this.#osc(allowedOsc(body, isEndedByBell)),
  });
  /** All there is to write so far, as long as it is one run of the input: it need not be copied. */
  #run: Uint8Array | undefined;
  #buffer = Buffer.allocUnsafe(1024);
  #length = 0;
  #isAlternate = false;
  #hasChanged = false;
  #hasLink = false;
  #hasKeyReports = false;
  #hasCursorStyle = false;
  /** Private modes that are on, the other screen apart. */
  readonly #modes = new Set<string>();
  /** How many ways to report keys the box has put on the stack, which each screen has its own of. */
  #keyModes = { main: 0, alternate: 0 };

  /** Whether the screen is the alternate one now. */
  get isAlternate(): boolean {
    return this.#isAlternate;
  }

  push(chunk: Uint8Array): Uint8Array {
    this.#run = undefined;
    this.#length = 0;
    this.#parser.push(chunk);
    if (this.#run) return this.#run;
    return Uint8Array.prototype.slice.call(this.#buffer, 0, this.#length);
  }

  /** Whether anything but colours and the cursor's position is to be undone. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Undoes what the session has left behind, so that the person's shell has its terminal as it was. */
  undo(): string {
    const modes = [...this.#modes].map((mode) => `\u001b[?${mode}l`).join("");
    const text =
      this.#poppedKeyModes() +
      (this.#isAlternate ? "\u001b[?1049l" : "") +
      this.#poppedKeyModes("main") +
      modes +
      (this.#hasLink ? closedLink : "") +
      (this.#hasKeyReports ? "\u001b[>4m" : "") +
      (this.#hasCursorStyle ? "\u001b[0 q" : "") +
      resetSequence;
    this.#modes.clear();
    this.#keyModes = { main: 0, alternate: 0 };
    this.#isAlternate = this.#hasLink = this.#hasKeyReports = this.#hasCursorStyle = false;
    this.#hasChanged = false;
    return text;
  }

  get #screen(): "main" | "alternate" {
    return this.#isAlternate ? "alternate" : "main";
  }

  #poppedKeyModes(screen = this.#screen): string {
    const count = this.#keyModes[screen];
    this.#keyModes[screen] = 0;
    return count === 0 ? "" : `\u001b[<${count}u`;
  }

  #add(run: Uint8Array): void {
    if (this.#run === undefined && this.#length === 0) {
      this.#run = run;
      return;
    }
    this.#makeRoom(run.length);
    this.#buffer.set(run, this.#length);
    this.#length += run.length;
  }

  #write(text: string): void {
    this.#makeRoom(text.length);
    this.#length += this.#buffer.write(text, this.#length, "latin1");
  }

  #change(text: string, isLasting: boolean): void {
    this.#hasChanged ||= isLasting;
    this.#write(text);
  }

  #makeRoom(size: number): void {
    const first = this.#run;
    this.#run = undefined;
    const needed = this.#length + size + (first?.length ?? 0);
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(2 * needed);
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    if (!first) return;
    this.#buffer.set(first);
    this.#length = first.length;
  }

  #escape(intermediates: string, final: string): void {
    // A full reset would also forget what is the person's: scrollback, title, palette, their shell's key mode.
    if (intermediates === "" && final === "c") this.#write(`${this.undo()}\u001b[H\u001b[2J`);
    const text = allowedEscape(intermediates, final);
    if (text !== undefined) this.#change(text, true);
  }

  #osc(text: string | undefined): void {
    if (text === undefined) return;
    if (text.startsWith("\u001b]8;")) this.#hasLink = text !== closedLink;
    this.#change(text, true);
  }

  #csi(sequence: AllowedCsi | undefined): void {
    if (!sequence) return;
    const { kind, params } = sequence;
    if (kind === "?h" || kind === "?l") this.#setModes(params.split(";"), kind === "?h");
    else if (kind === ">m") this.#hasKeyReports = true;
    else if (kind === " q") this.#hasCursorStyle = true;
    else if (kind === "<u") return this.#popKeyModes(params);
    else if (kind === ">u" && this.#keyModes[this.#screen] === maxKeyModes) return;
    else if (kind === ">u") this.#keyModes[this.#screen] += 1;
    // The lowest entry is the person's shell's.
    else if (kind === "=u" && this.#keyModes[this.#screen] === 0) return;
    this.#change(sequence.text, !passing.has(kind));
  }

  #setModes(given: readonly string[], isOn: boolean): void {
    for (const mode of given) {
      if (alternateScreens.has(mode)) this.#isAlternate = isOn;
      else if (mode === savedCursor) continue;
      else if (isOn) this.#modes.add(mode);
      else this.#modes.delete(mode);
    }
  }

  /** Not more than the box has put there itself: below are those of the person's shell. */
  #popKeyModes(params: string): void {
    const count = Math.min(Number(params || 1), this.#keyModes[this.#screen]);
    if (count === 0) return;
    this.#keyModes[this.#screen] -= count;
    this.#write(`\u001b[<${count}u`);
  }
}

/** Always undone: colours, alphabets, hidden cursor, mouse reports, pastes, insertion, scroll region. */
const resetSequence =
  "\u001b[0m\u000f\u001b(B\u001b)B\u001b[4l\u001b[?25h\u001b[?7h\u001b[?1l\u001b>" +
  "\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1004l\u001b[?1006l\u001b[?2004l\u001b[?2026l\u001b7\u001b[r\u001b8";

/** Room for a screen that is about to be drawn: what the terminal shows moves into its scrollback. */
export const blankScreen = (rows: number): string => `\u001b[${rows};1H${"\n".repeat(rows)}\u001b[H`;
