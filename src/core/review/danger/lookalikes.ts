/**
 * Characters that are not what they look like, in code and in names of files. Texts in quotes, comments and prose may say what
 * they like, in any script.
 */

/** Letters of other scripts that look like Latin ones. */
const cyrillic =
  "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0405\u0406\u0408\u04ae";
const greek =
  "\u03bf\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7";
const armenian = "\u0561\u0570\u0578\u057d\u0585\u0581\u0566";
const lookalikes = new RegExp(`^[${cyrillic}${greek}${armenian}]+$`, "u");
const greekLookalike = new RegExp(`[${greek}]`, "u");

/** Signs that are read as an operator, a quote or a bracket, and blanks that programs take for none, or for another. */
const falseSign =
  /[\u01c0-\u01c3\u037e\u02b9-\u02bf\u02c8\u02d0\ua78c\ua789\u2044\u2215\u29f8\u2223\u2236\u2217\u2212\u2010-\u2013\u2024\u0131\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/u;
/** Characters that become a plain letter, digit or sign when they are normalised, as Python does it with names. */
const compatible = /[\p{L}\p{N}\p{P}\p{S}]/u;
/** Latin letters that only linguists use, and small capitals. */
const phonetic = /[\u0250-\u02af\u1d00-\u1dbf\ua720-\ua7ff\uab30-\uab6f]/u;
const foreignLetter = /[\u0370-\u058f\u13a0-\u13ff\u2c80-\u2cff\ua4d0-\ua4ff\uab70-\uabbf]/u;
/** Scripts whose letters no reader takes for Latin ones. */
const unlike =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}]/u;
const latinOrNone = /[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u;
const letters = /[\p{L}\p{Nd}]/gu;
const notAscii = /[^\0-\u007f]/gu;
const identifier = /[\p{L}\p{M}\p{N}_$]+/gu;
const latin = /[a-z]/i;
const ascii = /^[\0-\u007f]*$/;

const becomesAscii = (char: string): boolean =>
  !ascii.test(char) && compatible.test(char) && /^[!-~]+$/.test(char.normalize("NFKC"));

/** A word of Latin letters and of some that could be taken for them. */
const isMixed = (word: string): boolean =>
  latin.test(word) &&
  foreignLetter.test(word) &&
  (!/^[\u0370-\u03ff\p{Script=Latin}\p{N}_$]+$/u.test(word) || greekLookalike.test(word));

const isForeignMix = (word: string): boolean => {
  if (!latin.test(word)) return false;
  const others = (word.match(letters) ?? []).filter((char) => !latinOrNone.test(char));
  return (
    others.some((char) => !unlike.test(char)) &&
    (isMixed(word) || !/^[\u0370-\u03ff\p{Script=Latin}\p{N}_$]+$/u.test(word))
  );
};

const otherDigit = /(?![0-9])\p{Nd}/u;

const signs =
  "It has a character that looks like another sign, letter or blank: it reads otherwise than it runs.";
const mixed = "A word in it mixes letters of two scripts: it looks like another word.";
const onlyLooks =
  "A word in it is written in letters that only look Latin: it is another word than it seems.";
const composed =
  "A name in it is written with marks apart from their letters: it is another name than the one that looks the same.";

/** Why a line of code reads otherwise than it runs, if it does. */
export function deception(line: string): string | undefined {
  if (ascii.test(line)) return undefined;
  const code = outsideStrings(line);
  return deceptionOf(code) ?? wordsOf(line);
}

/** Text in quotes and comments counts only where a word mixes scripts, or the whole line is in Latin but for it. */
function wordsOf(line: string): string | undefined {
  if (!foreignLetter.test(line)) return undefined;
  const words = (line.match(identifier) ?? []).filter((word) => foreignLetter.test(word));
  if (words.some(isMixed)) return mixed;
  // In a sentence of another script, some words consist of such letters by chance.
  const isCodeInLatin = latin.test(line) && words.every((word) => word.length > 1 && lookalikes.test(word));
  return isCodeInLatin && words.length > 0 ? onlyLooks : undefined;
}

/** Of code without its texts, or of a name. */
function deceptionOf(code: string): string | undefined {
  if (ascii.test(code)) return undefined;
  if (falseSign.test(code) || (code.match(notAscii) ?? []).some(becomesAscii) || otherDigit.test(code))
    return signs;
  const words = code.match(identifier) ?? [];
  if (words.some((word) => isForeignMix(word) || (latin.test(word) && phonetic.test(word)))) return mixed;
  if (words.some((word) => lookalikes.test(word))) return onlyLooks;
  return words.some((word) => word !== word.normalize("NFC")) ? composed : undefined;
}

/** Whether a part of a path could be taken for another one; names in other scripts are names. */
export function hasLookalike(name: string): boolean {
  if (ascii.test(name)) return false;
  const words = name.match(identifier) ?? [];
  const oddSign =
    /[\u01c0-\u01c3\u037e\u2024\u2044\u2215\u29f8\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\uff01-\uff5e]/u;
  return (
    oddSign.test(name) ||
    words.some((word) => isForeignMix(word) || (word.match(letters) ?? []).some(becomesAscii)) ||
    (latin.test(name) && words.some((word) => lookalikes.test(word)))
  );
}

/** Texts in quotes and comments may say anything. One pass for any line. */
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
