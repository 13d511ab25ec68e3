/** The terminal emulator, in a file of its own: it is loaded with the first terminal, not when boxd boots. */
import { SerializeAddon } from "@xterm/addon-serialize";
import headless from "@xterm/headless";
import { refuseEndlessWork, surviveFaults } from "../../base/terminal-faults.ts";

const scrollbackLines = 5000;

/** Parts of xterm that have no public name. Absent ones are treated as "not known". */
interface Internals {
  readonly buffer?: { scrollTop: number; scrollBottom: number; x: number; y: number };
  readonly coreService?: { isCursorHidden: boolean };
  readonly coreMouseService?: { activeEncoding: string };
  readonly _inputHandler?: { _parser?: { currentState: number } };
}

/** The state in which the parser is between two sequences. */
const groundState = 0;

export class Emulator {
  readonly scrollback = scrollbackLines;
  readonly #terminal: headless.Terminal;
  readonly #serializer = new SerializeAddon();

  constructor(cols: number, rows: number, answer: (text: string) => void) {
    this.#terminal = new headless.Terminal({
      cols,
      rows,
      scrollback: scrollbackLines,
      allowProposedApi: true,
    });
    surviveFaults(this.#terminal);
    refuseEndlessWork(this.#terminal);
    this.#terminal.loadAddon(this.#serializer);
    this.#terminal.onData(answer);
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  get #internals(): Internals {
    return (this.#terminal as unknown as { _core: Internals })._core;
  }

  write(bytes: Uint8Array, parsed: () => void): void {
    this.#terminal.write(bytes, parsed);
  }

  resize(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
  }

  /** Whether the program has asked to be told what is pasted: it has begun to read its terminal. */
  get readsPastes(): boolean {
    return this.#terminal.modes.bracketedPasteMode;
  }

  /** Whether plain lines scroll the whole screen, so that enough of them leave nothing of what was before. */
  get scrollsWhole(): boolean {
    const { buffer, _inputHandler } = this.#internals;
    const isGround = _inputHandler?._parser?.currentState === groundState;
    return isGround && !this.#terminal.modes.originMode && !!buffer && !this.#hasRegion(buffer);
  }

  /** A text that makes a fresh terminal of this size equal to this one. */
  screen(): string {
    const { coreService, coreMouseService } = this.#internals;
    let text = this.#serializer.serialize();
    if (coreMouseService?.activeEncoding === "SGR") text += "\u001b[?1006h";
    if (coreMouseService?.activeEncoding === "SGR_PIXELS") text += "\u001b[?1016h";
    text += this.#region();
    return coreService?.isCursorHidden ? `${text}\u001b[?25l` : text;
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  #hasRegion(buffer: { scrollTop: number; scrollBottom: number }): boolean {
    return buffer.scrollTop !== 0 || buffer.scrollBottom !== this.#terminal.rows - 1;
  }

  /** The scroll region, which the serializer leaves out. Setting it moves the cursor, which is put back. */
  #region(): string {
    const { buffer } = this.#internals;
    const { originMode } = this.#terminal.modes;
    if (!buffer || !(originMode || this.#hasRegion(buffer))) return "";
    const row = buffer.y + 1 - (originMode ? buffer.scrollTop : 0);
    return `\u001b[${buffer.scrollTop + 1};${buffer.scrollBottom + 1}r\u001b[${row};${buffer.x + 1}H`;
  }
}
