/**
 * SECURITY: recorded output shown on a terminal keeps its colours and nothing else: no cursor movement that could
 * hide or rewrite lines, no clipboard, no titles, no links, no answers typed on the person's behalf.
 */
const sequences =
  /\u001b\[[0-9;:]*m|\u001b\[[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const colour = /^\u001b\[[0-9;:]*m$/;

export const plainText = (text: string): string =>
  text.replaceAll(sequences, (sequence) => (colour.test(sequence) ? sequence : ""));

/** Longer lines are cut into pieces, so that a box cannot make us keep an endless one. */
const longestLine = 64 * 1024;

/** Passes whole lines on, because a sequence cut in two would not be recognised. */
export class PlainLines {
  readonly #decoder = new TextDecoder();
  #pending = "";

  push(chunk: Uint8Array): string {
    this.#pending += this.#decoder.decode(chunk, { stream: true });
    const end =
      this.#pending.length > longestLine ? this.#pending.length : this.#pending.lastIndexOf("\n") + 1;
    const whole = this.#pending.slice(0, end);
    this.#pending = this.#pending.slice(end);
    return plainText(whole);
  }

  end(): string {
    const rest = plainText(this.#pending);
    this.#pending = "";
    return rest;
  }
}
