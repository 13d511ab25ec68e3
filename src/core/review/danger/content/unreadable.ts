import { omitUndefined } from "../../../../base/omit-undefined.ts";
import type { Danger } from "../../../../contract/review/danger.ts";
import { addedLines } from "../added-lines.ts";
import { foldPath, foldedName } from "../fold-path.ts";
import { knownFile } from "../inert/extensions.ts";
import { counted } from "../sentence.ts";
import type { ContentRule } from "./content-rule.ts";

/** Below this a person reads every character; beyond, a line is not read. */
const maxLineChars = 2_000;

const foreign =
  /(?:^|\/)(?:vendor|vendored|_vendor|third[-_]?party|3rd[-_]?party|thirdparty|bower_components|jspm_packages|pods|carthage|godeps|external_libs|externals?|extern|extlibs?|subprojects|_deps)\/./;
const built = /(?:[.-]min\.(?:js|mjs|cjs|css)|[.-]bundle\.(?:js|mjs|cjs)|\.(?:umd|iife)(?:\.prod)?\.js)$/;
const output = /(?:^|\/)(?:dist|_build|\.output|out)\/.+\.(?:js|mjs|cjs|css|html|wasm)$/;
const generatedMark =
  /@generated\b|\bcode generated\b.{0,200}\bdo not edit\b|\bauto-?generated\b.{0,100}\bdo not (?:edit|modify)\b/i;

/** Minified code that is wrapped: lines longer than a person writes, with hardly a blank. */
const denseLineChars = 500;
const maxBlankShare = 0.03;

/** Data and prose have long lines by nature, and lock files are generated. */
const isCode = (path: string): boolean =>
  knownFile(foldedName(path))?.language !== undefined || /\.(?:css|html?|sh|bash|zsh|fish)$/i.test(path);

const hasLongLine = (text: string): boolean => {
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf("\n", from);
    const to = end === -1 ? text.length : end;
    if (to - from > denseLineChars && isUnreadable(text.slice(from, to))) return true;
    from = to + 1;
  }
  return false;
};

function isUnreadable(line: string): boolean {
  if (line.length > maxLineChars) return true;
  if (line.length <= denseLineChars) return false;
  return (line.match(/[ \t]/g)?.length ?? 0) / line.length < maxBlankShare;
}

const isMarked = (text: string): boolean => generatedMark.test(text.slice(0, 1_000));

/** Code that runs like any other, in a form whose diff cannot be read. */
export const unreadable: ContentRule = {
  mayFind: (path, text) =>
    foreign.test(foldPath(path)) ||
    built.test(foldPath(path)) ||
    output.test(foldPath(path)) ||
    (isCode(path) && (isMarked(text) || hasLongLine(text))),
  find(path, old, text) {
    const folded = foldPath(path);
    const danger = (why: string, line?: number): Danger[] => [
      { kind: "unreadable", path, ...omitUndefined({ line }), why },
    ];
    if (foreign.test(folded))
      return danger("Copy of others' code: compare it with what its project has published.");
    if (built.test(folded) || output.test(folded))
      return danger(
        "Built or minified code: what runs is this file, and its diff cannot be read; build it again yourself.",
      );
    if (isMarked(text)) return danger("Generated code: compare it with what its generator makes.");
    const isAdded = addedLines(old, text);
    const long = text
      .split("\n")
      .flatMap((line, at) =>
        isUnreadable(line) && isAdded(at + 1) ? [{ line: at + 1, chars: line.length }] : [],
      );
    const [first] = long;
    if (first === undefined) return [];
    const more = long.length > 1 ? ` So have ${counted(long.length - 1, "more line")}.` : "";
    return danger(`The line has ${first.chars} characters: too many to read.${more}`, first.line);
  },
};
