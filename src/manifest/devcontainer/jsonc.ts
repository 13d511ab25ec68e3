/**
 * JSON with comments and trailing commas, as editors write it. The text is hostile: one pass over it, and what is not
 * plain JSON after that is refused by JSON.parse.
 */
const maxLength = 262_144;

/** The value, or the reason for none. */
export function parseJsonc(text: string): { readonly value: unknown } | { readonly problem: string } {
  if (text.length > maxLength) return { problem: "it is larger than 256 KiB" };
  const plain = toPlainJson(text.replace(/^\ufeff/, ""));
  if (plain === undefined) return { problem: "a comment or a text in it has no end" };
  try {
    return { value: JSON.parse(plain) as unknown };
  } catch {
    return { problem: "it is not valid JSON" };
  }
}

/** Scanned by hand: a regular expression would start over at each of many unfinished comments. */
function toPlainJson(text: string): string | undefined {
  const parts: string[] = [];
  /** Where in `parts` a comma is that nothing has followed yet. */
  let comma: number | undefined;
  for (let at = 0; at < text.length; ) {
    const end = tokenEnd(text, at);
    if (end === undefined) return undefined;
    const token = text.slice(at, end);
    at = end;
    if (isComment(token) || token.trim() === "") {
      parts.push(" ");
      continue;
    }
    if (comma !== undefined && (token === "}" || token === "]")) parts[comma] = " ";
    comma = token === "," ? parts.length : undefined;
    parts.push(token);
  }
  return parts.join("");
}

const isComment = (token: string): boolean => token.startsWith("//") || token.startsWith("/*");

/** The end of the text, comment or character that begins here. */
function tokenEnd(text: string, start: number): number | undefined {
  if (text[start] === '"') return stringEnd(text, start);
  if (text.startsWith("//", start)) return lineEnd(text, start);
  if (text.startsWith("/*", start)) {
    const end = text.indexOf("*/", start + 2);
    return end === -1 ? undefined : end + 2;
  }
  return start + 1;
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}

function stringEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return undefined;
}
