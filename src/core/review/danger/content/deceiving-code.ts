import { addedLines } from "../added-lines.ts";
import { foldPath, foldedName } from "../fold-path.ts";
import { isProseName, knownFile } from "../inert/extensions.ts";
import { isDataDirectory } from "../inert/places.ts";
import { type ContentRule, lineDangers } from "./content-rule.ts";

/** Spaces that push what follows out of the window of an editor or a diff. */
const wideGap = /\S[ \t\u00a0\u2000-\u200a\u3000]{80,}\S|^[ ]{200,}\S|^\t{50,}\S/m;
/** Tables in prose are wide, and their lines end in a bar. */
const wideGapInProse = /\S[ \t\u00a0\u2000-\u200a\u3000]{80,}[^\s|]/;

/** Letters of other scripts that look like Latin ones. */
const cyrillic =
  "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0261\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0405\u0406\u0408\u04ae";
const greek =
  "\u03bf\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7";
const armenian = "\u0561\u0570\u0578\u057d\u0585\u0581\u0566";
const lookalikes = new RegExp(`^[${cyrillic}${greek}${armenian}]{2,}$`, "u");
const greekLookalike = new RegExp(`[${greek}]`, "u");

/** Signs that are read as an operator, a quote or a bracket, and letters that become plain ones when they are normalised. */
const falseSign =
  /[\u01c0-\u01c3\u037e\u02d0\ua789\u2044\u2215\u29f8\u2223\u2236\u2217\u2212\uff01-\uff5e\u{1d400}-\u{1d7ff}\u2160-\u217f\u212a\u017f\u0131]/u;
const foreignLetter = /[\u0370-\u058f\u13a0-\u13ff\ua4d0-\ua4ff\uab70-\uabbf]/u;
const identifier = /[\p{L}\p{M}\p{N}_$]+/gu;
const latin = /[a-z]/i;

/** Why a line of code reads otherwise than it runs, if it does. */
function deception(line: string): string | undefined {
  if (falseSign.test(line) && falseSign.test(outsideStrings(line))) {
    return "It has a character that looks like another sign or letter: it reads otherwise than it runs.";
  }
  if (!foreignLetter.test(line)) return undefined;
  const words = (line.match(identifier) ?? []).filter((word) => foreignLetter.test(word));
  const isMixed = (word: string) =>
    latin.test(word) &&
    (!/^[\u0370-\u03ff\p{Script=Latin}\p{N}_$]+$/u.test(word) || greekLookalike.test(word));
  if (words.some(isMixed)) return "A word in it mixes letters of two scripts: it looks like another word.";
  // In a sentence of another script, some words consist of such letters by chance.
  const isCodeInLatin = latin.test(line) && words.every((word) => lookalikes.test(word));
  return isCodeInLatin && words.length > 0
    ? "A word in it is written in letters that only look Latin: it is another word than it seems."
    : undefined;
}

/** Texts in quotes and comments may say what they like. One pass, whatever the line is. */
function outsideStrings(line: string): string {
  let rest = "";
  let quote = "";
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at]!;
    if (quote !== "") {
      if (char === "\\") at += 1;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "'" || char === "`") quote = char;
    else if (char === "#" || (char === "/" && "/*".includes(line[at + 1] ?? " "))) return rest;
    else if (char === "*" && rest.trim() === "") return rest;
    else rest += char;
  }
  return rest;
}

const maxLineChars = 10_000;

const isCode = (path: string): boolean => {
  const parts = foldPath(path).split("/");
  const name = parts.pop()!;
  if (isProseName(name) || parts.some(isDataDirectory)) return false;
  const known = knownFile(name);
  return known === undefined || known.language !== undefined || known.fileClass === "settings";
};

/** What shows that text is out of sight; tables of data are as wide as they are. */
function gapIn(path: string): RegExp | undefined {
  if (isCode(path)) return wideGap;
  return knownFile(foldedName(path))?.fileClass === "prose" ? wideGapInProse : undefined;
}

/** Code that is out of sight at the far right, and letters that are not what they look like. */
export const deceivingCode: ContentRule = {
  mayFind: (path, text) =>
    !text.includes("\0") &&
    (gapIn(path)?.test(text) === true ||
      (isCode(path) && (falseSign.test(text) || foreignLetter.test(text)))),
  find(path, old, text) {
    const isAdded = addedLines(old, text);
    const gap = gapIn(path);
    const found = text.split("\n").flatMap((full, at) => {
      if (!isAdded(at + 1)) return [];
      const line = full.slice(0, maxLineChars);
      const why = gap?.test(line)
        ? "Text stands far to the right, after a long row of blanks, where nobody looks."
        : isCode(path)
          ? deception(line)
          : undefined;
      return why === undefined ? [] : [{ line: at + 1, why }];
    });
    return lineDangers({ kind: "hidden_text", path, found, noun: "line that deceives" });
  },
};
