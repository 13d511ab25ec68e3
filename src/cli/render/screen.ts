import { printableJson } from "../../base/printable.ts";
import { plainText } from "../terminal/plain-lines.ts";
import type { Style } from "./style.ts";
import { createStyle } from "./style.ts";

/** `process` is one; opening a stream costs time, so each is only touched when it is needed. */
export interface ScreenStreams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** Where a command shows things: data on stdout, words for people on stderr. */
export class Screen {
  readonly streams: ScreenStreams;
  readonly isJson: boolean;
  readonly #noColor: boolean;
  /** Called instead of ending the program when the reader of stdout has gone (`| head`). */
  onClosedOutput: (() => void) | undefined;

  constructor(streams: ScreenStreams, options: { readonly isJson: boolean; readonly noColor: boolean }) {
    this.streams = streams;
    this.isJson = options.isJson;
    this.#noColor = options.noColor || options.isJson;
  }

  /** For what goes to stdout. */
  get style(): Style {
    return createStyle(this.streams.stdout.isTTY && !this.#noColor);
  }

  /** For what goes to stderr. */
  get errorStyle(): Style {
    return createStyle(this.streams.stderr.isTTY && !this.#noColor);
  }

  /** A person types and reads here. */
  get isInteractive(): boolean {
    return this.streams.stdin.isTTY && this.streams.stdout.isTTY;
  }

  get size(): { cols: number; rows: number } {
    const { columns, rows } = this.streams.stdout;
    return { cols: clampSize(columns, 80), rows: clampSize(rows, 24) };
  }

  /**
   * SECURITY: texts quote names and messages of boxes and repositories. Each is made printable where it is quoted; what
   * was forgotten there can colour a terminal, and do nothing else to it.
   */
  print(text: string): void {
    const { stdout } = this.streams;
    stdout.write(`${stdout.isTTY ? plainText(text) : text}\n`);
  }

  /** Data for programs: one document, indented for the person who looks at it. */
  printJson(value: unknown): void {
    this.print(printableJson(value, 2));
  }

  /** One line of a stream of documents. */
  printJsonLine(value: unknown): void {
    this.print(printableJson(value));
  }

  /** A word to the person, never data. */
  note(text: string): void {
    const { stderr } = this.streams;
    stderr.write(`${stderr.isTTY ? plainText(text) : text}\n`);
  }
}

/** Some terminals say 0 until they know better. */
const clampSize = (value: number | undefined, fallback: number): number =>
  value === undefined || value < 1 ? fallback : Math.min(value, 1_000);
