import { FitAddon } from "@xterm/addon-fit";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal, type ITheme, type IDisposable } from "@xterm/xterm";
import { refuseEndlessWork, surviveFaults } from "../../../src/base/terminal-faults.ts";
import { findText } from "./find-text.ts";
import { chooseRenderer } from "./renderer.ts";
import type { Size } from "./session-connection.ts";
import { strictDocument, withStrictElements } from "./strict-document.ts";

/** A part of xterm that has no public name: it tells that what comes next was done by a person. */
interface Internals {
  readonly coreService?: { onUserInput(listener: () => void): IDisposable };
}

interface Input {
  typed(text: string): void;
  /** Mouse reports in the old form, which is not text. */
  bytes(bytes: Uint8Array): void;
}

/**
 * SECURITY: a box's output can make a terminal type: reports of its state, its size or its colours, as if the user had.
 * With several viewers each would, and a program's question, or a file that holds one, would become input. Here only
 * the user's own actions are input. Without the part of xterm that knows the difference, there is no input.
 */
function onPersonInput(terminal: Terminal, input: Input): void {
  const { coreService } = (terminal as unknown as { readonly _core: Internals })._core;
  let isPerson = false;
  coreService?.onUserInput(() => {
    isPerson = true;
  });
  terminal.onData((text) => {
    if (isPerson) input.typed(text);
    isPerson = false;
  });
  terminal.onBinary((text) => input.bytes(Uint8Array.from(text, (character) => character.charCodeAt(0))));
}

const variable = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Dark in both themes, as programs expect their terminal to be. */
const terminalTheme = (): ITheme => ({
  background: variable("--terminal-ground"),
  foreground: variable("--terminal-text"),
  cursor: variable("--terminal-text"),
  cursorAccent: variable("--terminal-ground"),
  selectionBackground: "#3b4a75",
  black: "#23272f",
  red: "#ff7b86",
  green: "#7fd89b",
  yellow: "#f0c674",
  blue: "#8fb0ff",
  magenta: "#d9a2f5",
  cyan: "#7fd4e0",
  white: "#d5dae3",
  brightBlack: "#8b94a5",
  brightRed: "#ffa3ab",
  brightGreen: "#a5e9ba",
  brightYellow: "#f9dc9c",
  brightBlue: "#b6caff",
  brightMagenta: "#e8c5fa",
  brightCyan: "#a8e6ee",
  brightWhite: "#ffffff",
});

const terminalFont = (): string => variable("--mono");

export interface ScreenEvents {
  typed(text: string): void;
  bytes(bytes: Uint8Array): void;
  link(url: string): void;
  title(title: string): void;
  copy(text: string): void;
}

export interface ScreenOptions {
  readonly fontSize: number;
  /** One of many on the page: drawn with elements, because a browser has only a few graphics contexts. */
  readonly isCompact: boolean;
  readonly isReadOnly: boolean;
  readonly events: ScreenEvents;
}

const scrollbackLines = 5000;
const smallestFont = 4;
const usualSize: Size = { cols: 80, rows: 24 };
const maxTitle = 120;

/** xterm in an element of the page, with everything switched off that a box could use to act outside of it. */
export class TerminalScreen {
  readonly terminal: Terminal;
  readonly #host: HTMLElement;
  readonly #fit = new FitAddon();
  #fontSize: number;

  constructor(host: HTMLElement, { fontSize, isCompact, isReadOnly, events }: ScreenOptions) {
    this.#host = host;
    this.#fontSize = fontSize;
    this.terminal = new Terminal({
      allowProposedApi: false,
      cursorBlink: false,
      disableStdin: isReadOnly,
      documentOverride: strictDocument(),
      fontFamily: terminalFont(),
      fontSize,
      minimumContrastRatio: 4.5,
      scrollback: scrollbackLines,
      theme: terminalTheme(),
      // SECURITY: a hyperlink shows any text and leads anywhere; a person sees the address before it is opened.
      linkHandler: { activate: (_event, url) => events.link(url), allowNonHttpProtocols: false },
      // SECURITY: OSC 52 (clipboard) and window reports have no handler here, and none may be added.
      windowOptions: {},
    });
    this.terminal.loadAddon(this.#fit);
    this.terminal.loadAddon(new WebLinksAddon((_event, url) => events.link(url)));
    withStrictElements(() => this.terminal.open(host));
    const draws = (renderer: string) => void (host.dataset["renderer"] = renderer);
    chooseRenderer(this.terminal, { isCompact }, draws);
    onPersonInput(this.terminal, events);
    refuseEndlessWork(this.terminal);
    surviveFaults(this.terminal);
    this.terminal.onTitleChange((title) => events.title(title.slice(0, maxTitle)));
    this.terminal.attachCustomKeyEventHandler((event) => this.#isForProgram(event, events));
  }

  /** The size at which the element is filled with text of the chosen size. */
  get ownSize(): Size {
    const fitting = this.#fit.proposeDimensions();
    if (!fitting || !Number.isFinite(fitting.cols) || !Number.isFinite(fitting.rows)) return usualSize;
    const scale = (this.terminal.options.fontSize ?? this.#fontSize) / this.#fontSize;
    const limited = (count: number, least: number) =>
      Math.min(1000, Math.max(least, Math.floor(count * scale)));
    return { cols: limited(fitting.cols, 2), rows: limited(fitting.rows, 1) };
  }

  get size(): Size {
    return { cols: this.terminal.cols, rows: this.terminal.rows };
  }

  /** Takes the session's size. A screen larger than the element is drawn smaller, so that all of it is seen. */
  resize(size: Size): void {
    this.terminal.resize(size.cols, size.rows);
    this.layout();
  }

  layout(): void {
    const own = this.ownSize;
    const scale = Math.min(1, own.cols / this.terminal.cols, own.rows / this.terminal.rows);
    const fontSize =
      scale === 1 ? this.#fontSize : Math.max(smallestFont, Math.floor(this.#fontSize * scale * 4) / 4);
    if (this.terminal.options.fontSize !== fontSize) this.terminal.options.fontSize = fontSize;
  }

  setFontSize(fontSize: number): void {
    this.#fontSize = fontSize;
    this.terminal.options.fontSize = fontSize;
    this.layout();
  }

  /** Selects the next match of a text above, or below; false without one. */
  find(wanted: string, isUpwards: boolean): boolean {
    const { buffer } = this.terminal;
    const { active } = buffer;
    const at = this.terminal.getSelectionPosition()?.start ?? { x: 0, y: active.length };
    const textOf = (row: number) => active.getLine(row)?.translateToString(true) ?? "";
    const from = { row: at.y, column: at.x };
    const found = findText(active.length, textOf, wanted, { from, isUpwards });
    if (!found) return false;
    this.terminal.select(found.column, found.row, wanted.length);
    this.terminal.scrollToLine(Math.max(0, found.row - Math.floor(this.terminal.rows / 2)));
    return true;
  }

  dispose(): void {
    this.terminal.dispose();
    this.#host.replaceChildren();
  }

  /** Ctrl-Shift-C copies and Ctrl-Shift-V pastes, as in other terminals; every other key is the program's. */
  #isForProgram(event: KeyboardEvent, events: ScreenEvents): boolean {
    const isOurs = event.ctrlKey && event.shiftKey && !event.altKey && !event.metaKey;
    if (!isOurs || event.type !== "keydown") return true;
    if (event.code === "KeyC") {
      event.preventDefault();
      if (this.terminal.hasSelection()) events.copy(this.terminal.getSelection());
      return false;
    }
    // The browser pastes by itself, and the page hears of it.
    return event.code !== "KeyV";
  }
}
