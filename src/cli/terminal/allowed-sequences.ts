/**
 * SECURITY: what a box may do with the terminal of a person: draw, move the cursor, colour, erase, and choose how keys
 * and the mouse are reported. Each sequence is written anew from what was read, so that no terminal can read another
 * one in it. Everything that is not here is dropped: clipboard, titles, window operations, notices, pictures, files,
 * palettes, printers, character sets in which other bytes become control characters.
 *
 * Questions that a terminal answers by typing are passed only where the box cannot choose what is typed and no line
 * end is in it: position, kind of terminal, state of a mode, colours.
 */
import type { Csi } from "./parser.ts";

/** Larger numbers are no position on a screen, only work for the terminal. */
const largest = 9_999;
const maxNumbers = 32;
const maxAddress = 2_083;

/** Modes that a program may set: keys, drawing, cursor, mouse, the other screen, pastes, focus, one frame at once. */
const modes = new Set([
  1, 5, 6, 7, 9, 12, 25, 47, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 1047, 1048, 1049, 2004, 2026,
  2027, 2031, 2048,
]);

type Rule = (numbers: readonly string[]) => string | undefined;

const clamped = (digits: string): string => (digits === "" ? "" : String(Math.min(Number(digits), largest)));
/** At most so many numbers; more of them are left out, as a terminal does. */
const numbers =
  (most: number): Rule =>
  (given) =>
    given.slice(0, most).map(clamped).join(";");
const oneOf =
  (...allowed: readonly string[]): Rule =>
  (given) =>
    given.length === 1 && allowed.includes(clamped(given[0]!)) ? clamped(given[0]!) : undefined;
const none: Rule = (given) => (given.length === 1 && given[0] === "" ? "" : undefined);
const onlyModes: Rule = (given) => {
  const kept = given.map(clamped).filter((mode) => modes.has(Number(mode)));
  return kept.length === 0 ? undefined : kept.join(";");
};

const rules = new Map<string, Rule>([
  ..."@ABCDEFGILMPSXZ`abde".split("").map((final): [string, Rule] => [final, numbers(1)]),
  ..."Hfr".split("").map((final): [string, Rule] => [final, numbers(2)]),
  // With more numbers it makes the terminal wait for the program while the mouse moves.
  ["T", (given) => (given.length === 1 ? clamped(given[0]!) : undefined)],
  ["J", oneOf("", "0", "1", "2", "3")],
  ["K", oneOf("", "0", "1", "2")],
  ["?J", oneOf("", "0", "1", "2")],
  ["?K", oneOf("", "0", "1", "2")],
  ["g", oneOf("", "0", "3")],
  ["s", none],
  ["u", none],
  ["h", oneOf("4")],
  ["l", oneOf("4")],
  ["?h", onlyModes],
  ["?l", onlyModes],
  [" q", oneOf("", "0", "1", "2", "3", "4", "5", "6")],
  ["!p", none],
  // How keys are reported; xterm's way and kitty's.
  [">m", (given) => (clamped(given[0]!) === "4" ? numbers(2)(given) : undefined)],
  [">u", numbers(1)],
  ["<u", numbers(1)],
  ["=u", numbers(2)],
  // Questions.
  ["n", oneOf("5", "6")],
  ["?n", oneOf("6", "996")],
  ["c", oneOf("", "0")],
  [">c", oneOf("", "0")],
  [">q", oneOf("", "0")],
  ["?u", none],
  ["$p", numbers(1)],
  ["?$p", numbers(1)],
]);

export interface AllowedCsi {
  /** Prefix, intermediates and final: what kind of sequence it is. */
  readonly kind: string;
  readonly params: string;
  readonly text: string;
}

export function allowedCsi({ prefix, params, intermediates, final }: Csi): AllowedCsi | undefined {
  const kind = prefix + intermediates + final;
  const canonical = kind === "m" ? allowedColours(params) : applied(rules.get(kind), params);
  if (canonical === undefined) return undefined;
  return { kind, params: canonical, text: `\u001b[${prefix}${canonical}${intermediates}${final}` };
}

function applied(rule: Rule | undefined, params: string): string | undefined {
  if (!rule || params.includes(":")) return undefined;
  return rule(params.split(";"));
}

/** Colours and styles; the one sequence whose numbers have parts. */
function allowedColours(params: string): string | undefined {
  if (params.split(/[;:]/).length > maxNumbers) return undefined;
  return params.replaceAll(/\d+/g, clamped);
}

const m = 0x6d;
/** Cursor movements and colours: A to D, G, H, d and m. */
const frequent = new Set([0x41, 0x42, 0x43, 0x44, 0x47, 0x48, 0x64, m]);
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Where a frequent sequence ends that is canonical already; 0 for another or an incomplete one. */
export function endOfFrequent(bytes: Uint8Array, from: number, isColourOnly = false): number {
  if (bytes[from + 1] !== 0x5b) return 0;
  let count = 1;
  let digits = 0;
  for (let at = from + 2; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (isDigit(byte)) {
      // A leading zero is not canonical, and five digits may be too many.
      if (digits === 4 || (digits === 1 && bytes[at - 1] === 0x30)) return 0;
      digits += 1;
    } else if (byte === 0x3b) {
      count += 1;
      digits = 0;
    } else {
      if (byte === m) return count <= maxNumbers ? at + 1 : 0;
      if (isColourOnly) return 0;
      // Erasing to the end of the line, most often written without a number.
      if (byte === 0x4b) return at === from + 2 ? at + 1 : 0;
      return frequent.has(byte) && count <= (byte === 0x48 ? 2 : 1) ? at + 1 : 0;
    }
  }
  return 0;
}

const plainEscapes = new Set("78=>DEHM".split(""));
const characterSets = new Set("0AB".split(""));

export function allowedEscape(intermediates: string, final: string): string | undefined {
  const isAllowed =
    intermediates === ""
      ? plainEscapes.has(final)
      : (intermediates === "(" || intermediates === ")") && characterSets.has(final);
  return isAllowed ? `\u001b${intermediates}${final}` : undefined;
}

/** Drawn characters apart, what acts at once: bell, backspace, tab, line ends, and the switch between two alphabets. */
export const isAllowedControl = (code: number): boolean => code >= 0x07 && code <= 0x0f;

/** The questions for colours, without which a program cannot tell a dark screen from a light one. */
const colourQuestion = /^(?:1[012]|4;\d{1,3});\?$/;
const link = /^8;([\w=:.,+-]{0,256});(.*)$/;
/** A web page without a name before the host, which would be taken for the host. */
const webPage = /^https?:\/\/[\w.:[\]-]+(?:[/?#][!-~]*)?$/i;

export function allowedOsc(body: string, isEndedByBell: boolean): string | undefined {
  const end = isEndedByBell ? "\u0007" : "\u001b\\";
  if (colourQuestion.test(body)) return `\u001b]${body}${end}`;
  const [, params = "", address = ""] = link.exec(body) ?? [];
  if (address === "") return body.startsWith("8;") ? closedLink : undefined;
  // Another address than a web page ends the link before it, as it would have.
  if (address.length > maxAddress || !webPage.test(address)) return closedLink;
  return `\u001b]8;${params};${address}${end}`;
}

export const closedLink = "\u001b]8;;\u001b\\";
