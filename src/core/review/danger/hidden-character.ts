const names: Readonly<Record<number, string>> = {
  0x00ad: "soft hyphen",
  0x034f: "combining grapheme joiner",
  0x061c: "Arabic letter mark",
  0x115f: "Hangul choseong filler",
  0x1160: "Hangul jungseong filler",
  0x17b4: "Khmer inherent vowel",
  0x17b5: "Khmer inherent vowel",
  0x180e: "Mongolian vowel separator",
  0x200b: "zero width space",
  0x200c: "zero width non-joiner",
  0x200d: "zero width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x2028: "line separator",
  0x2029: "paragraph separator",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "pop directional formatting",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2061: "invisible function application",
  0x2062: "invisible times",
  0x2063: "invisible separator",
  0x2064: "invisible plus",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "pop directional isolate",
  0x2800: "blank Braille pattern",
  0x3164: "Hangul filler",
  0xfeff: "zero width no-break space",
  0xffa0: "halfwidth Hangul filler",
  0x08: "backspace",
  0x0d: "carriage return inside a line",
  0x1b: "escape",
};

const ranges = [
  // Controls, without tab, line feed, form feed and carriage return.
  String.raw`\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f`,
  // Marks of direction.
  String.raw`\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069`,
  // Without width, or blank though they count as letters.
  String.raw`\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u2800\u3164\ufeff\uffa0`,
  // Lines to a program, none to a reader.
  String.raw`\u2028\u2029`,
  // Signs that join hieroglyphs, and what is no character at all.
  String.raw`\u{13430}-\u{1343f}\ufdd0-\ufdef\p{Noncharacter_Code_Point}`,
  // Selectors, tags and other marks that carry data unseen.
  String.raw`\ufe00-\ufe0f\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}`,
  // For private use: what they show, if anything, is the font's choice.
  String.raw`\ue000-\uf8ff\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}`,
];

/** Everything that is worth a second look; one pass over a text with none of it is all that most texts cost. */
export const suspect = new RegExp(String.raw`[${ranges.join("")}]|\r(?!\n|$)`, "u");

/** Legitimate uses, taken out before a line is judged. */
const emojiJoiner =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\u20e3])\u200d(?=[\p{Extended_Pictographic}\u2640\u2642])/gu;
const flagOfRegion = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu;
const scriptJoiner =
  /(?<=[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Oriya}\p{Script=Sinhala}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Mongolian}\p{M}])(?:\u200c|\u200d|\u180e)(?=\p{L}|\p{M})/gu;
/**
 * One selector after a character that has several forms picks one of them; elsewhere, or in a row, it carries a message. After
 * a plain letter it makes another name of a name.
 */
const oneSelector =
  /(?:(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=\p{Emoji})(?<![\0-\u007f])[\ufe0e\ufe0f]|(?<=[\p{Sm}\p{So}\p{Script=Han}\p{Script=Myanmar}\p{Script=Mongolian}])[\ufe00-\ufe02\ufe0e\ufe0f]|(?<=\p{Script=Han})[\u{e0100}-\u{e01ef}])(?![\ufe00-\ufe0f\u{e0100}-\u{e01ef}])/gu;

/** The first character of a line that hides something, with its name. */
export function hiddenCharacter(line: string): { readonly name: string } | undefined {
  if (!suspect.test(line)) return undefined;
  const rest = line
    .replace(/\r$/, "")
    .replaceAll(emojiJoiner, "")
    .replaceAll(flagOfRegion, "")
    .replaceAll(scriptJoiner, "")
    .replaceAll(oneSelector, "");
  const match = suspect.exec(rest);
  if (!match) return undefined;
  const code = match[0].codePointAt(0)!;
  return { name: `${nameOf(code)}, U+${code.toString(16).toUpperCase().padStart(4, "0")}` };
}

function nameOf(code: number): string {
  if (names[code]) return names[code];
  if (code >= 0xfe00 && code <= 0xfe0f) return "row of variation selectors";
  if (code >= 0xe0100 && code <= 0xe01ef) return "row of variation selectors";
  if (code >= 0xe0000 && code <= 0xe007f) return "tag character";
  if ((code >= 0xe000 && code <= 0xf8ff) || code >= 0xf0000) return "character for private use";
  return code < 0xa0 ? "control character" : "invisible character";
}
