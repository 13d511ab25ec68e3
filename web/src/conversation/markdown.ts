/**
 * The little of Markdown that agents write, as data. SECURITY: nothing here becomes HTML: markup in a message is text, an
 * address is only followed after a person has seen all of it, and every loop goes forward, so no text can hang the page.
 */
export type Inline =
  | { readonly kind: "text" | "code" | "strong" | "em"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly url: string };

export type Block =
  | { readonly kind: "paragraph" | "quote"; readonly lines: readonly (readonly Inline[])[] }
  | { readonly kind: "heading"; readonly level: number; readonly inlines: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | {
      readonly kind: "list";
      readonly isOrdered: boolean;
      readonly start: number;
      readonly items: readonly ListItem[];
    }
  | { readonly kind: "table"; readonly text: string }
  | { readonly kind: "rule" };

interface ListItem {
  readonly depth: number;
  readonly inlines: readonly Inline[];
}

const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const item = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const rule = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const maxDepth = 4;

export function parseMarkdown(text: string): readonly Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  let at = 0;
  /** Takes lines while they are of this block. */
  const take = (belongs: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && belongs(lines[at]!)) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const [, mark, language = ""] = fence.exec(line) ?? [];
    const [, hashes, title = ""] = heading.exec(line) ?? [];
    if (mark !== undefined) {
      at += 1;
      const code = take((one) => !one.trimStart().startsWith(mark));
      at += 1;
      blocks.push({ kind: "code", language, text: code.join("\n") });
    } else if (line.trim() === "") at += 1;
    else if (hashes !== undefined) {
      at += 1;
      blocks.push({ kind: "heading", level: hashes.length, inlines: parseInline(title) });
    } else if (rule.test(line)) {
      at += 1;
      blocks.push({ kind: "rule" });
    } else if (line.trimStart().startsWith(">")) {
      const quoted = take((one) => one.trimStart().startsWith(">"));
      blocks.push({
        kind: "quote",
        lines: quoted.map((one) => parseInline(one.trimStart().slice(1).trimStart())),
      });
    } else if (item.test(line)) blocks.push(listOf(take((one) => item.test(one) || /^\s{2,}\S/.test(one))));
    else if (line.trimStart().startsWith("|"))
      blocks.push({ kind: "table", text: take((one) => one.trimStart().startsWith("|")).join("\n") });
    else {
      const first = at;
      const own = take((one) => one.trim() !== "" && (at === first || !startsBlock(one)));
      blocks.push({ kind: "paragraph", lines: own.map(parseInline) });
    }
  }
  return blocks;
}

const startsBlock = (line: string): boolean =>
  fence.test(line) || heading.test(line) || item.test(line) || line.trimStart().startsWith(">");

function listOf(lines: readonly string[]): Block {
  const items: { depth: number; text: string }[] = [];
  for (const line of lines) {
    const [, indent = "", , text = ""] = item.exec(line) ?? [];
    if (item.test(line)) items.push({ depth: Math.min(maxDepth, Math.floor(indent.length / 2)), text });
    else if (items.length > 0) items.at(-1)!.text += ` ${line.trim()}`;
  }
  const number = item.exec(lines[0] ?? "")?.[2];
  return {
    kind: "list",
    isOrdered: number !== undefined,
    start: Number(number ?? 1),
    items: items.map(({ depth, text }) => ({ depth, inlines: parseInline(text) })),
  };
}

/** Code first: nothing in it means anything. The marks are bounded, so that a line of marks costs no more than its length. */
const inline =
  /`([^`\n]{1,2000})`|\*\*([^*\n]{1,2000})\*\*|(?<![\w*])\*([^*\s][^*\n]{0,500})\*(?![\w*])|\[([^\]\n]{1,300})\]\(([^()\s]{1,2000})\)|(https?:\/\/[^\s<>"'`)\]]{1,2000})/g;

export function parseInline(line: string): readonly Inline[] {
  const inlines: Inline[] = [];
  let end = 0;
  for (const match of line.matchAll(inline)) {
    if (match.index > end) inlines.push({ kind: "text", text: line.slice(end, match.index) });
    const [, code, strong, em, text, url, bare] = match;
    if (code !== undefined) inlines.push({ kind: "code", text: code });
    else if (strong !== undefined) inlines.push({ kind: "strong", text: strong });
    else if (em !== undefined) inlines.push({ kind: "em", text: em });
    else inlines.push({ kind: "link", text: text ?? bare ?? "", url: url ?? bare ?? "" });
    end = match.index + match[0].length;
  }
  if (end < line.length) inlines.push({ kind: "text", text: line.slice(end) });
  return inlines;
}
