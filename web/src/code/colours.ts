/**
 * From text to tokens with a colour. SECURITY: highlight.js would give HTML; its emitter is replaced by one that
 * collects plain pieces of text, which become elements one by one. The content of a file never becomes markup.
 */
import type { HLJSApi } from "highlight.js";
import { type Language, grammars } from "./languages.ts";

export interface Token {
  readonly text: string;
  readonly colour?: Colour;
}

const colours = ["keyword", "string", "number", "comment", "title"] as const;
export type Colour = (typeof colours)[number];

/** The grammar's many scopes, in the few colours of the theme. */
const byScope: Readonly<Record<string, Colour>> = {
  keyword: "keyword",
  "meta-keyword": "keyword",
  "selector-tag": "keyword",
  name: "keyword",
  tag: "keyword",
  section: "title",
  string: "string",
  regexp: "string",
  char: "string",
  addition: "string",
  link: "string",
  number: "number",
  literal: "number",
  symbol: "number",
  bullet: "number",
  built_in: "title",
  type: "title",
  title: "title",
  attr: "title",
  attribute: "title",
  property: "title",
  "selector-class": "title",
  "selector-id": "title",
  comment: "comment",
  quote: "comment",
  meta: "comment",
  doctag: "comment",
  deletion: "comment",
};

const colourOf = (scope: string | undefined): Colour | undefined =>
  scope === undefined ? undefined : byScope[scope.split(".")[0] ?? ""];

class TokenCollector {
  readonly tokens: Token[] = [];
  readonly #scopes: string[] = [];

  addText(text: string): void {
    if (text === "") return;
    // The innermost scope that has a colour: a part of a string without one of its own looks like the string.
    const colour = this.#scopes.map(colourOf).findLast((one) => one !== undefined);
    this.tokens.push(colour === undefined ? { text } : { text, colour });
  }

  startScope(scope: string): void {
    this.#scopes.push(scope);
  }

  endScope(): void {
    this.#scopes.pop();
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  // Named by highlight.js.
  __addSublanguage(other: TokenCollector): void {
    this.tokens.push(...other.tokens);
  }

  closeAllNodes(): void {}
  finalize(): void {}
  toHTML(): string {
    return "";
  }
}

let core: Promise<HLJSApi> | undefined;
const loaded = new Map<Language, Promise<Highlighter>>();

export type Highlighter = (text: string) => readonly (readonly Token[])[];

/** Loads a grammar once. */
export function loadHighlighter(language: Language): Promise<Highlighter> {
  let loading = loaded.get(language);
  if (loading === undefined) {
    loading = open(language);
    loaded.set(language, loading);
    loading.catch(() => loaded.delete(language));
  }
  return loading;
}

async function open(language: Language): Promise<Highlighter> {
  core ??= import("highlight.js/lib/core").then(({ default: highlighter }) => {
    highlighter.configure({ __emitter: TokenCollector });
    return highlighter;
  });
  const [highlighter, grammar] = await Promise.all([core, grammars[language]()]);
  highlighter.registerLanguage(language, grammar.default);
  return (text) => {
    const { _emitter } = highlighter.highlight(text, { language, ignoreIllegals: true });
    return splitLines((_emitter as unknown as TokenCollector).tokens);
  };
}

/** Tokens may go over several lines; rows do not. */
function splitLines(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const lines: Token[][] = [[]];
  for (const { text, colour } of tokens) {
    const parts = text.split("\n");
    for (const [index, part] of parts.entries()) {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)!.push(colour === undefined ? { text: part } : { text: part, colour });
    }
  }
  return lines;
}
