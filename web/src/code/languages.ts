/** Which grammar a file gets, by its name. Each grammar is a chunk of its own, loaded when a file needs it. */
import type { LanguageFn } from "highlight.js";

type Grammar = () => Promise<{ default: LanguageFn }>;

export const grammars = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  dart: () => import("highlight.js/lib/languages/dart"),
  diff: () => import("highlight.js/lib/languages/diff"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  elixir: () => import("highlight.js/lib/languages/elixir"),
  go: () => import("highlight.js/lib/languages/go"),
  graphql: () => import("highlight.js/lib/languages/graphql"),
  haskell: () => import("highlight.js/lib/languages/haskell"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  less: () => import("highlight.js/lib/languages/less"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  nix: () => import("highlight.js/lib/languages/nix"),
  perl: () => import("highlight.js/lib/languages/perl"),
  php: () => import("highlight.js/lib/languages/php"),
  protobuf: () => import("highlight.js/lib/languages/protobuf"),
  python: () => import("highlight.js/lib/languages/python"),
  r: () => import("highlight.js/lib/languages/r"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  scala: () => import("highlight.js/lib/languages/scala"),
  scss: () => import("highlight.js/lib/languages/scss"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
} as const satisfies Record<string, Grammar>;

export type Language = keyof typeof grammars;

const byEnding = new Map<string, Language>(
  (
    [
      ["bash", "sh bash zsh envrc"],
      ["c", "c h"],
      ["cpp", "cc cpp cxx hpp hh ino"],
      ["csharp", "cs"],
      ["css", "css"],
      ["dart", "dart"],
      ["diff", "diff patch"],
      ["elixir", "ex exs"],
      ["go", "go"],
      ["graphql", "graphql gql"],
      ["haskell", "hs"],
      ["ini", "ini toml cfg conf properties gitconfig editorconfig npmrc"],
      ["java", "java"],
      ["javascript", "js mjs cjs jsx"],
      ["json", "json jsonc json5 webmanifest"],
      ["kotlin", "kt kts"],
      ["less", "less"],
      ["lua", "lua"],
      ["makefile", "mk"],
      ["markdown", "md markdown mdx"],
      ["nix", "nix"],
      ["perl", "pl pm"],
      ["php", "php"],
      ["protobuf", "proto"],
      ["python", "py pyi"],
      ["r", "r"],
      ["ruby", "rb gemspec rake"],
      ["rust", "rs"],
      ["scala", "scala sc"],
      ["scss", "scss"],
      ["sql", "sql"],
      ["swift", "swift"],
      ["typescript", "ts mts cts tsx"],
      ["xml", "xml html htm svg vue xhtml plist"],
      ["yaml", "yaml yml"],
    ] as const
  ).flatMap(([language, endings]) => endings.split(" ").map((ending) => [ending, language] as const)),
);

const byName: Readonly<Record<string, Language>> = {
  dockerfile: "dockerfile",
  containerfile: "dockerfile",
  makefile: "makefile",
  gnumakefile: "makefile",
  gemfile: "ruby",
  rakefile: "ruby",
};

export function languageOf(path: string): Language | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (Object.hasOwn(byName, name)) return byName[name];
  const ending = name.slice(name.lastIndexOf(".") + 1);
  return ending === name ? undefined : byEnding.get(ending);
}
