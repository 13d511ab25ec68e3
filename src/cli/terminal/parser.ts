/**
 * Reads bytes as a terminal does: the states are those of a VT500, with UTF-8. Whatever a terminal would take as one
 * sequence arrives as one event, however it is written: with control characters inside, with C1 introducers, cut into
 * chunks. An unfinished sequence is never told.
 */
export interface Csi {
  /** One of `<=>?`, or nothing. */
  readonly prefix: string;
  readonly params: string;
  readonly intermediates: string;
  readonly final: string;
}

export interface TerminalEvents {
  /**
   * Where a sequence ends that begins here with ESC and needs no look, because it is allowed exactly as it is written;
   * 0 otherwise. It becomes part of the text. A stream of colours would be slow without.
   */
  skip(bytes: Uint8Array, at: number): number;
  /** Characters that are drawn, with tabs and line ends; valid UTF-8, and no control character else. */
  text(run: Uint8Array): void;
  /** A control character, alone or in the middle of a sequence, where it acts at once. */
  control(code: number): void;
  escape(intermediates: string, final: string): void;
  csi(sequence: Csi): void;
  /** The body is ASCII; longer ones and ones with other characters are not told. */
  osc(body: string, isEndedByBell: boolean): void;
}

/** An ignored sequence ends where it would have ended, and is not told. */
type State = "ground" | "escape" | "csi" | "ignoredCsi" | "osc" | "ignoredOsc" | "ignoredString";

const maxParams = 256;
const maxIntermediates = 2;
const maxOsc = 4_096;
const replacement = Uint8Array.of(0xef, 0xbf, 0xbd);
const invalid = 0xfffd;
/** After ESC: DCS, SOS, PM and APC. What they hold is never told. */
const ignoredStrings = "PX^_";

const isString = (state: State): boolean =>
  state === "osc" || state === "ignoredOsc" || state === "ignoredString";

const isTail = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x80 && byte <= 0xbf;

/** How many bytes the character has that begins here; 0 when the rest is yet to come, -1 for bytes that are no character. */
function characterSize(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0x80) return 1;
  const size = lead < 0xc2 ? -1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : -1;
  if (size === -1) return -1;
  if (at + 1 >= bytes.length) return 0;
  const second = bytes[at + 1]!;
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return -1;
  for (let next = 2; next < size; next += 1) {
    if (at + next >= bytes.length) return 0;
    if (!isTail(bytes[at + next])) return -1;
  }
  return size;
}

/** Exact up to U+00FF, where the control characters are; what is drawn needs no number. */
function codeOf(bytes: Uint8Array, at: number, size: number): number {
  if (size === 1) return bytes[at]!;
  return size === 2 && bytes[at]! < 0xc4 ? ((bytes[at]! & 3) << 6) | (bytes[at + 1]! & 0x3f) : invalid;
}

export class TerminalParser {
  readonly #events: TerminalEvents;
  #state: State = "ground";
  /** The first bytes of a character whose last ones are yet to come. */
  #held: Uint8Array | undefined;
  #prefix = "";
  #params = "";
  #intermediates = "";
  #osc = "";

  constructor(events: TerminalEvents) {
    this.#events = events;
  }

  push(chunk: Uint8Array): void {
    let bytes = chunk;
    if (this.#held) {
      bytes = new Uint8Array(this.#held.length + chunk.length);
      bytes.set(this.#held);
      bytes.set(chunk, this.#held.length);
      this.#held = undefined;
    }
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === "ground") {
        const end = this.#endOfText(bytes, at);
        if (end > at) this.#events.text(bytes.subarray(at, end));
        at = end;
        if (at === bytes.length) return;
      }
      const size = characterSize(bytes, at);
      if (size === 0) {
        this.#held = bytes.slice(at);
        return;
      }
      const code = codeOf(bytes, at, size);
      const end = at + Math.max(1, size);
      if (this.#draws(code)) this.#events.text(size === -1 ? replacement : bytes.subarray(at, end));
      else this.#take(code);
      at = end;
    }
  }

  /** Where the run of drawn characters ends that begins here. */
  #endOfText(bytes: Uint8Array, from: number): number {
    let at = from;
    while (at < bytes.length) {
      const byte = bytes[at]!;
      if ((byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09) at += 1;
      else if (byte === 0x1b) {
        const end = this.#events.skip(bytes, at);
        if (end === 0) break;
        at = end;
      } else if (byte < 0xc2 || (byte === 0xc2 && bytes[at + 1]! < 0xa0)) break;
      else {
        const size = characterSize(bytes, at);
        if (size < 1) break;
        at += size;
      }
    }
    return at;
  }

  /** A character that no sequence holds ends it, and is drawn. */
  #draws(code: number): boolean {
    if (code < 0xa0 || isString(this.#state)) return false;
    this.#state = "ground";
    return true;
  }

  #take(code: number): void {
    if (code === 0x18 || code === 0x1a) this.#state = "ground";
    else if (code === 0x1b) {
      if (this.#state === "osc") this.#endOsc(false);
      this.#begin();
    } else if (code >= 0x80 && code < 0xa0) {
      if (code === 0x9c && this.#state === "osc") this.#endOsc(false);
      this.#begin();
      this.#escape(code - 0x40);
    } else if (this.#state === "osc") this.#inOsc(code);
    else if (this.#state === "ignoredOsc" && code === 0x07) this.#state = "ground";
    else if (isString(this.#state)) return;
    else if (code < 0x20) this.#events.control(code);
    else if (code === 0x7f) return;
    else if (this.#state === "escape") this.#escape(code);
    else this.#inCsi(code);
  }

  #begin(): void {
    this.#state = "escape";
    this.#prefix = this.#params = this.#intermediates = this.#osc = "";
  }

  #escape(code: number): void {
    const character = String.fromCharCode(code);
    if (code < 0x30) {
      if (this.#intermediates.length < maxIntermediates) this.#intermediates += character;
      return;
    }
    this.#state = "ground";
    if (this.#intermediates !== "") this.#events.escape(this.#intermediates, character);
    else if (character === "[") this.#state = "csi";
    else if (character === "]") this.#state = "osc";
    else if (ignoredStrings.includes(character)) this.#state = "ignoredString";
    else this.#events.escape("", character);
  }

  #inCsi(code: number): void {
    const character = String.fromCharCode(code);
    if (code >= 0x40) {
      const isWhole = this.#state === "csi";
      this.#state = "ground";
      if (!isWhole) return;
      this.#events.csi({
        prefix: this.#prefix,
        params: this.#params,
        intermediates: this.#intermediates,
        final: character,
      });
    } else if (code < 0x30) {
      this.#intermediates += character;
      if (this.#intermediates.length > maxIntermediates) this.#state = "ignoredCsi";
    } else if (code >= 0x3c) {
      const isFirst = this.#prefix === "" && this.#params === "" && this.#intermediates === "";
      if (isFirst) this.#prefix = character;
      else this.#state = "ignoredCsi";
    } else {
      this.#params += character;
      if (this.#params.length > maxParams || this.#intermediates !== "") this.#state = "ignoredCsi";
    }
  }

  #inOsc(code: number): void {
    if (code === 0x07) {
      this.#endOsc(true);
      this.#state = "ground";
    } else if (code >= 0x7f || this.#osc.length === maxOsc) this.#state = "ignoredOsc";
    else if (code >= 0x20) this.#osc += String.fromCharCode(code);
  }

  #endOsc(isEndedByBell: boolean): void {
    this.#events.osc(this.#osc, isEndedByBell);
  }
}
