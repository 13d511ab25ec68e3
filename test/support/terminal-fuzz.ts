/** Streams of bytes that a box might send to a terminal, made from a seed. */

import { type Random, below, pick } from "./seeded.ts";

/** How many sequences a fuzzer tries; a long run names more of them, and another seed. */
export const fuzzCount = (usual: number): number => Number(process.env["AGENTBOX_TERMINAL_FUZZ"] ?? usual);
export const fuzzSeed = Number(process.env["AGENTBOX_TERMINAL_SEED"] ?? 38);

const times = (random: Random, most: number, make: () => string): string =>
  Array.from({ length: below(random, most + 1) }, make).join("");
const between = (random: Random, first: number, last: number): string =>
  String.fromCharCode(first + below(random, last - first + 1));

const esc = "\u001b";
/** Bytes as characters U+0000 to U+00FF, so that invalid UTF-8 can be said. */
const toBytes = (text: string): Buffer => Buffer.from(text, "latin1");
const utf8 = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

const words = ["text", "a b", "\r\n", "\n", "\t", "é", "日本", "🚀", "e\u0301", "\u00a0", "x"].map(utf8);
const c0 = (random: Random): string => between(random, 0, 0x1f);
const stolen = "c3RvbGVu";
const bodies = [
  `52;c;${stolen}`,
  "52;c;?",
  "0;owned",
  "2;owned",
  "1;owned",
  "8;;http://a.example/x",
  "8;id=1;https://b.example",
  "8;;",
  "8;;file:///etc/passwd",
  "10;?",
  "11;#000000",
  "4;1;?",
  "4;1;#ffffff",
  "104",
  `1337;File=:${stolen}`,
  "9;owned",
  "777;notify;a;b",
  "7;file:///",
  "133;A",
  "0052;c;AA==",
].map(String);
const ends = ["\u0007", `${esc}\\`, "\u00c2\u009c", "\u009c", "\u0018", "\u001a", esc, "", `${esc}[m`];
/** Introducers, in seven bits, in UTF-8, and as raw bytes. */
const introduce = (random: Random, final: string): string =>
  pick(random, [
    esc + final,
    esc + final,
    `\u00c2${String.fromCharCode(final.charCodeAt(0) + 0x40)}`,
    String.fromCharCode(final.charCodeAt(0) + 0x40),
  ]);

const number = (random: Random): string =>
  pick(random, ["", "0", "1", "2", "4", "5", "6", "8", "21", "22", "52", "00052", "1049", "2004", "99999"]);

function csi(random: Random): string {
  const prefix = pick(random, ["", "", "", "?", "?", ">", "<", "="]);
  const params = Array.from({ length: 1 + below(random, 4) }, () => number(random)).join(
    pick(random, [";", ";", ";", ":"]),
  );
  const intermediates = random() < 0.8 ? "" : between(random, 0x20, 0x2f);
  const final = random() < 0.3 ? pick(random, ["t", "n", "c", "p", "h", "l"]) : between(random, 0x40, 0x7e);
  return introduce(random, "[") + prefix + params + intermediates + final;
}

/** Sequences that were found to act on a terminal, as they were found; a fuzzer changes each of them, too. */
export const knownAttacks: readonly string[] = [
  `${esc}\n]52;c;${stolen}\u0007`,
  `${esc}\u0008]5\r2;c;${stolen}${esc}\\`,
  `\u009d52;c;${stolen}\u009c`,
  `\u00c2\u009d52;c;${stolen}\u00c2\u009c`,
  `${esc}]0;owned\u0007${esc}[21t`,
  `${esc}]1337;File=:${stolen}\u0007`,
  `${esc}[8;10;10t${esc}[5i`,
  `${esc}P$q"p${esc}\\${esc}P+q544e${esc}\\`,
  `${esc}c`,
];

const sequence = (random: Random): string =>
  pick(random, [
    () => pick(random, knownAttacks),
    () => pick(random, words),
    () => c0(random),
    () => csi(random),
    () => csi(random),
    () => introduce(random, "]") + pick(random, bodies) + pick(random, ends),
    () => introduce(random, "]") + pick(random, bodies) + pick(random, ends),
    () =>
      introduce(random, pick(random, ["P", "X", "^", "_"])) +
      pick(random, ["$qm", "+q544e", `tmux;${esc}${esc}]52;c;${stolen}\u0007`, "Gf=24;AAAA", "q#0~~", ""]) +
      pick(random, ends),
    () => esc + times(random, 2, () => between(random, 0x20, 0x2f)) + between(random, 0x30, 0x7e),
    () => times(random, 4, () => between(random, 0x80, 0xff)),
    () => times(random, 6, () => between(random, 0, 0xff)),
  ])();

/** Bytes put in, taken out and changed where they hurt: in the middle of sequences. */
function mutated(random: Random, text: string): string {
  let changed = text;
  for (let left = below(random, 4); left > 0; left -= 1) {
    const at = below(random, changed.length + 1);
    const put = pick(random, [
      () => c0(random),
      () => c0(random),
      () => between(random, 0, 0xff),
      () => pick(random, ["\u007f", esc, "\u0018", "\u00c2"]),
      () => "",
    ])();
    changed = changed.slice(0, at) + put + changed.slice(at + (random() < 0.3 ? 1 : 0));
  }
  return changed;
}

/** Anything at all: few sequences, whole, broken, or one in another. */
export function hostileStream(random: Random): Buffer {
  const text = Array.from({ length: 1 + below(random, 4) }, () => sequence(random)).join("");
  return toBytes(random() < 0.6 ? mutated(random, text) : text);
}

/** Sequences that programs draw with; a terminal must look the same with the guard and without. */
export function harmlessStream(random: Random): Buffer {
  const n = (most: number) => String(1 + below(random, most));
  const piece = () =>
    pick(random, [
      () => pick(random, words),
      () => times(random, 20, () => between(random, 0x20, 0x7e)),
      () => `${esc}[${n(24)};${n(80)}H`,
      () => `${esc}[${n(9)}${pick(random, "@ABCDEFGLMPSTXdIZ".split(""))}`,
      () => `${esc}[${pick(random, ["", "0", "1", "2"])}${pick(random, ["J", "K"])}`,
      () =>
        `${esc}[${pick(random, ["", "0", "1", "3;31", "38;5;17", "38;2;1;2;3", "48:2::9:8:7", "4:3", "7", "22;27"])}m`,
      () => `${esc}[${pick(random, ["", "5;20", "1;24", "3;8"])}r`,
      () => esc + pick(random, ["7", "8", "D", "E", "M", "H", "=", ">", "(0", "(B", ")0"]),
      () =>
        `${esc}[?${pick(random, ["1", "6", "7", "25", "47", "1049", "2004", "1002;1006"])}${pick(random, ["h", "l"])}`,
      () => `${esc}[4${pick(random, ["h", "l"])}`,
      () => pick(random, ["\u000e", "\u000f", "\u0008", "\u0007", "\u000b", "\u0085"].map(utf8)),
      () => `${esc}[\n3${pick(random, ["\u0008", "\r", ""])}1m`,
      () => `${esc}]8;;http://a.example/\u0007link${esc}]8;;\u0007`,
    ])();
  return toBytes(Array.from({ length: 5 + below(random, 60) }, piece).join(""));
}

/** The same bytes, cut anywhere. */
export function* chunked(random: Random, bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + below(random, random() < 0.5 ? 3 : 40);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
