const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * SECURITY: text that comes from a box or a repository is shown in a person's terminal. Control characters are
 * made visible, so that a file name or an error cannot move the cursor, set the clipboard or hide itself.
 */
export function printable(text: string): string {
  return text.replaceAll(unprintable, (c) =>
    c === "\t" ? " " : c === "\n" ? "⏎" : `\\u{${c.codePointAt(0)!.toString(16)}}`,
  );
}

/** The same for texts of several lines, which stay lines. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");

/** JSON leaves some control characters as they are; escaped, they are the same to a program, and nothing to a terminal. */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replaceAll(unprintable, (c) =>
    c === "\n" ? c : `\\u${c.codePointAt(0)!.toString(16).padStart(4, "0")}`,
  );

/** One line without anything that cannot be seen, for places where a marker would be noise, such as notices. */
export const plainLine = (text: string): string =>
  text.replaceAll(unprintable, " ").replaceAll(/ {2,}/g, " ").trim();
