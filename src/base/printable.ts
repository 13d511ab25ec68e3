/**
 * SECURITY: text that comes from a box or a repository is shown in a person's terminal. Control characters are
 * made visible, so that a file name or an error cannot move the cursor, set the clipboard or hide itself.
 */
export function printable(text: string): string {
  return text.replaceAll(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu,
    (c) => (c === "\t" ? " " : `\\u{${c.codePointAt(0)!.toString(16)}}`),
  );
}

/** The same for texts of several lines, which stay lines. */
export const printableLines = (text: string): string => text.split("\n").map(printable).join("\n");
