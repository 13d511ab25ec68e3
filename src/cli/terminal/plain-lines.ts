import { allowedCsi, endOfFrequent } from "./allowed-sequences.ts";
import { TerminalParser } from "./parser.ts";

/**
 * SECURITY: recorded output shown on a terminal keeps its colours and nothing else: no cursor movement that could
 * hide or rewrite lines, no clipboard, no titles, no links, no answers typed on the person's behalf.
 */
class PlainText {
  #text = "";
  readonly #parser = new TerminalParser({
    skip: (bytes, at) => endOfFrequent(bytes, at, true),
    text: (run) => this.#add(run),
    control: (code) => (code === 0x0a || code === 0x09) && (this.#text += String.fromCharCode(code)),
    escape: () => undefined,
    csi: (sequence) => {
      const allowed = allowedCsi(sequence);
      if (allowed?.kind === "m") this.#text += allowed.text;
    },
    osc: () => undefined,
  });

  push(chunk: Uint8Array): string {
    this.#text = "";
    this.#parser.push(chunk);
    return this.#text;
  }

  #add(run: Uint8Array): void {
    const text = Buffer.from(run.buffer, run.byteOffset, run.byteLength).toString("utf8");
    this.#text += text.replaceAll("\r", "");
  }
}

export const plainText = (text: string): string => new PlainText().push(Buffer.from(text, "utf8"));

/** Longer lines are cut into pieces, so that a box cannot make us keep an endless one. */
const longestLine = 64 * 1024;

/** Passes whole lines on, for callers that write lines of their own between them. */
export class PlainLines {
  readonly #plain = new PlainText();
  #pending = "";

  push(chunk: Uint8Array): string {
    this.#pending += this.#plain.push(chunk);
    const end =
      this.#pending.length > longestLine ? this.#pending.length : this.#pending.lastIndexOf("\n") + 1;
    const whole = this.#pending.slice(0, end);
    this.#pending = this.#pending.slice(end);
    return whole;
  }

  end(): string {
    const rest = this.#pending;
    this.#pending = "";
    return rest;
  }
}
