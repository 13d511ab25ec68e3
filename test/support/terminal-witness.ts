/**
 * Real terminals that say how they would act on a text. The list of harmless acts is written here once more, in the
 * terminals' own terms: it must not share a mistake with the guard.
 */
import headless from "@xterm/headless";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import { surviveFaults } from "../../src/base/terminal-faults.ts";

const runFile = promisify(execFile);

/** Parts of xterm that have no public name: its table of handlers, and those that are asked last. */
interface Parser {
  readonly _csiHandlers: Record<number, unknown>;
  readonly _escHandlers: Record<number, unknown>;
  readonly _oscParser: { readonly _handlers: Record<number, unknown> };
  readonly _dcsParser: { readonly _handlers: Record<number, unknown> };
  identToString(ident: number): string;
  setCsiHandlerFallback(handler: (ident: number, params: { toArray(): unknown[] }) => void): void;
  setEscHandlerFallback(handler: (ident: number) => void): void;
  setOscHandlerFallback(handler: (ident: number, action: string, data: unknown) => void): void;
  setDcsHandlerFallback(handler: (ident: number, action: string, data: unknown) => void): void;
}

const single = /^CSI [@ABCDEFGILMPSTXZ`abde] (?:\d{1,4})?$/;
const allowed: readonly RegExp[] = [
  single,
  /^CSI [Hfr] (?:\d{0,4}(?:,\d{0,4})?)?$/,
  /^CSI \??[JK] [0-3]?$/,
  /^CSI m [\d,:]*$/,
  /^CSI g [03]?$/,
  /^CSI [su] 0?$/,
  /^CSI [hl] 4$/,
  /^CSI \?[hl] (?:(?:1|5|6|7|9|12|25|47|66|1000|1002|1003|1004|1005|1006|1015|1016|1047|1048|1049|2004|2026|2027|2031|2048)(?:,|$))+$/,
  /^CSI n [56]$/,
  /^CSI \?n (?:6|996)$/,
  /^CSI >?c 0?$/,
  /^CSI >q 0?$/,
  /^CSI \?u 0?$/,
  /^CSI \??\$p (?:\d{1,4})?$/,
  /^CSI [<>]u (?:\d{1,4})?$/,
  /^CSI =u (?:\d{0,4}(?:,\d{0,4})?)?$/,
  /^CSI >m 4(?:,\d{0,4})?$/,
  /^CSI  q [0-6]?$/,
  /^CSI !p 0?$/,
  /^ESC [78=>DEHM\\]$/,
  /^ESC [()][0AB]$/,
  /^OSC 8 [\w=:.,+-]*;(?:https?:\/\/[^@/]*(?:\/.*)?)?$/,
  /^OSC (?:10|11|12) \?$/,
  /^OSC 4 \d{1,3};\?$/,
  // libvterm's own names for what xterm calls by its bytes.
  /^(?:LF|CR|HT|BS|BEL|VT|FF|LS0|LS1|IND|NEL|HTS|RI|ST|CONTROL 0x84)$/,
];

export const isHarmless = (act: string): boolean => allowed.some((pattern) => pattern.test(act));

/** xterm with everything switched on that it can be made to do. */
export class XtermWitness {
  readonly acts: string[] = [];
  readonly #terminal = new headless.Terminal({
    allowProposedApi: true,
    cols: 80,
    rows: 24,
    windowOptions: {
      getWinTitle: true,
      getIconTitle: true,
      pushTitle: true,
      popTitle: true,
      setWinSizeChars: true,
    },
  });

  constructor() {
    // A sequence at which it throws draws nothing, and acts on nothing; the next one is seen again.
    surviveFaults(this.#terminal);
    const parser = (this.#terminal as unknown as { _core: { _inputHandler: { _parser: Parser } } })._core
      ._inputHandler._parser;
    const note = (act: string) => {
      this.acts.push(act);
      return false;
    };
    const csi = (name: string, params: readonly unknown[]) =>
      note(`CSI ${name} ${params.map((each) => (each === -1 ? "" : String(each))).join(",")}`);
    for (const ident of Object.keys(parser._csiHandlers).map(Number)) {
      const name = parser.identToString(ident);
      this.#terminal.parser.registerCsiHandler(partsOf(name), (params) => csi(name, params.flat()));
    }
    parser.setCsiHandlerFallback(
      (ident, params) => void csi(parser.identToString(ident), params.toArray().flat()),
    );
    for (const ident of Object.keys(parser._escHandlers).map(Number)) {
      const name = parser.identToString(ident);
      this.#terminal.parser.registerEscHandler(partsOf(name), () => note(`ESC ${name}`));
    }
    parser.setEscHandlerFallback((ident) => void note(`ESC ${parser.identToString(ident)}`));
    for (const ident of Object.keys(parser._oscParser._handlers).map(Number))
      this.#terminal.parser.registerOscHandler(ident, (data) => note(`OSC ${ident} ${data}`));
    parser.setOscHandlerFallback(
      (ident, action, data) => void (action === "PUT" && note(`OSC ${ident} ${String(data)}`)),
    );
    for (const ident of Object.keys(parser._dcsParser._handlers).map(Number)) {
      const name = parser.identToString(ident);
      this.#terminal.parser.registerDcsHandler(partsOf(name), () => note(`DCS ${name}`));
    }
    parser.setDcsHandlerFallback((ident) => void note(`DCS ${parser.identToString(ident)}`));
    this.#terminal.onTitleChange((title) => note(`title ${title}`));
  }

  /** Its actions because of these bytes. */
  async see(bytes: Uint8Array): Promise<readonly string[]> {
    this.acts.length = 0;
    await new Promise<void>((resolve) => this.#terminal.write(bytes, resolve));
    return [...this.acts];
  }

  dispose(): void {
    this.#terminal.dispose();
  }
}

function partsOf(name: string): { prefix?: string; intermediates?: string; final: string } {
  const [, prefix = "", intermediates = "", final = ""] = /^([<=>?]?)([ -/]*)(.)$/s.exec(name)!;
  return { ...omitUndefined({ prefix, intermediates }), final };
}

/** It reads so many bytes at once, and does not print whole what it has read in two pieces. */
const vtermReads = 1_024;

/** Spaces between the texts, so that none lies across one of its reads. */
function padded(texts: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [];
  let total = 0;
  const add = (part: Buffer) => {
    parts.push(part);
    total += part.length;
  };
  for (const text of texts) {
    if (text.length > vtermReads) continue;
    const left = vtermReads - (total % vtermReads);
    if (left < text.length) add(Buffer.alloc(left, 0x20));
    add(text);
  }
  // Braces are its own marks.
  return Buffer.concat(parts).map((byte) => (byte === 0x7b || byte === 0x7d ? 0x23 : byte)) as Buffer;
}

/** The same of libvterm, the emulator of Neovim and others, by the program that it comes with. */
export async function vtermActs(texts: readonly Buffer[]): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), "agentbox-vterm-"));
  try {
    const file = join(directory, "texts");
    await writeFile(file, padded(texts));
    const { stdout } = await runFile("vterm-dump", [file], { maxBuffer: 1 << 30, encoding: "latin1" });
    return [...stdout.matchAll(/\{([^}]*)\}/g)].map(([, act]) => inCommonWords(act!));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const csiNames: Readonly<Record<string, string>> = {
  ICH: "@",
  CUU: "A",
  CUD: "B",
  CUF: "C",
  CUB: "D",
  CNL: "E",
  CPL: "F",
  CHA: "G",
  CUP: "H",
  CHT: "I",
  IL: "L",
  DL: "M",
  DCH: "P",
  SU: "S",
  SD: "T",
  ECH: "X",
  CBT: "Z",
  HPA: "`",
  HPR: "a",
  REP: "b",
  VPA: "d",
  VPR: "e",
  HVP: "f",
  DECSTBM: "r",
  ED: "J",
  EL: "K",
  DECSED: "?J",
  DECSEL: "?K",
  SGR: "m",
  TBC: "g",
  SM: "h",
  RM: "l",
  DECSM: "?h",
  DECRM: "?l",
  DSR: "n",
  DA: "c",
};

/** `CUP 1,2` and `CSI ? 2026 $ p` as xterm's acts are written. */
function inCommonWords(act: string): string {
  const [name = "", ...rest] = act.split(" ");
  const given = (params: string) => params.replaceAll("*", "").replaceAll("+", ",").replace(/^,+$/, "");
  if (name in csiNames) return `CSI ${csiNames[name]} ${given(rest.join(""))}`;
  if (name === "OSC") return `OSC ${rest.join(" ").replace(";", " ")}`;
  const parts = /^CSI (?:([<=>?]) )?([\d,*+]*)(?: ([ -/]+))? (.)$/s.exec(act);
  if (!parts) return act;
  const [, prefix = "", params = "", intermediates = "", final] = parts;
  return `CSI ${prefix}${intermediates}${final} ${given(params)}`;
}
