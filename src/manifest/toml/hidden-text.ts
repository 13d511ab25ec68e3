/**
 * SECURITY: text that a person reads differently from the machine ("Trojan Source"). A manifest comes with a
 * repository, and its text is what a person agrees to.
 */
const tags = "\\u{e0000}-\\u{e007f}";
const controls = "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f";
const directions = "\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069";
const invisible = "\\u200b-\\u200d\\u2060-\\u2065\\ufeff";

/** Anywhere in the file. Joiners are left out: comments may hold emoji and scripts that need them. */
const inFile = new RegExp(`[${controls}${directions}${tags}]|\\r(?!\\n)`, "u");
/** In a key or value, where nothing invisible has a use. Line breaks and tabs are ordinary in scripts. */
const inValue = new RegExp(`[${controls}${directions}${invisible}${tags}]|\\r(?!\\n)`, "u");

export interface HiddenCharacter {
  readonly index: number;
  /** Such as `U+202E`. */
  readonly name: string;
}

function find(pattern: RegExp, text: string): HiddenCharacter | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const name = `U+${match[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
  return { index: match.index, name };
}

export const findHiddenInFile = (text: string): HiddenCharacter | undefined => find(inFile, text);
export const findHiddenInValue = (text: string): HiddenCharacter | undefined => find(inValue, text);
/** In what a person typed: a terminal sequence in an argument is their own, but NUL would end the text early. */
export const findHiddenInTyped = (text: string): HiddenCharacter | undefined => find(/\u0000/, text);
