/**
 * The kinds of file that are known by their ending to do nothing by themselves. An ending that is missing here is
 * unfamiliar: forgetting one costs a person one look, and nothing else.
 */
export type FileClass =
  /** Compiled or linked into something by a build that names it, or by its directory. */
  | "compiled"
  /** Run by an interpreter when something names it; at the root, tools look for files like it. */
  | "script"
  /** Runs as it is, or is loaded as a program: never inert, wherever it lies. */
  | "program"
  | "prose"
  /** Pictures, fonts, sound. */
  | "media"
  /** Style sheets and templates. */
  | "page"
  /** Tables and messages that no tool takes for its settings. */
  | "data"
  /** The forms that settings are written in; data where a directory says so. */
  | "settings";

/** Languages by name, each with the endings of its files. */
const compiledLanguages: Readonly<Record<string, string>> = {
  c: "c h cc cpp cxx c++ hh hpp hxx h++ inl ipp tpp m mm cu cuh",
  rust: "rs",
  go: "go",
  java: "java",
  kotlin: "kt",
  scala: "scala",
  csharp: "cs",
  fsharp: "fs fsi",
  vb: "vb",
  swift: "swift",
  haskell: "hs lhs",
  ocaml: "ml mli mll mly",
  zig: "zig",
  d: "d di",
  fortran: "f f90 f95 f03 f08 for",
  pascal: "pas pp",
  ada: "adb ads",
  assembly: "s asm",
  erlang: "erl hrl",
  elm: "elm",
  gleam: "gleam",
  dart: "dart",
  solidity: "sol",
  protobuf: "proto thrift fbs avdl",
  verilog: "v sv svh vhd vhdl",
  shaders: "glsl vert frag hlsl wgsl metal",
  graphql: "graphql gql",
};

const scriptLanguages: Readonly<Record<string, string>> = {
  javascript: "js mjs cjs jsx ts mts cts tsx coffee vue svelte astro mdx",
  python: "py pyi pyx pxd",
  ruby: "rb rbi rbs erb haml slim",
  php: "php phtml twig",
  perl: "pl pm t pod",
  lua: "lua",
  elixir: "ex exs eex heex leex",
  clojure: "clj cljs cljc",
  groovy: "groovy",
  r: "r rmd",
  julia: "jl",
  lisp: "lisp cl scm rkt el",
  crystal: "cr",
  nim: "nim",
  sql: "sql psql",
};

const programLanguages: Readonly<Record<string, string>> = {
  shell: "sh bash zsh fish ksh csh tcsh dash nu awk sed tcl expect",
  /** Unpacked by running what is written in them. */
  pickle: "pkl pickle joblib dill",
  /** Settings of a web server for the directory it lies in. */
  servers: "config",
};

/** Read by people or shown by a browser, in a project of any language. */
const others: Readonly<Record<Exclude<FileClass, "compiled" | "script" | "program">, string>> = {
  prose: "md markdown txt text rst adoc asciidoc textile wiki",
  media:
    "png jpg jpeg gif webp avif bmp ico icns tif tiff svg psd mp3 mp4 m4a ogg oga ogv wav flac webm mov ttf otf woff woff2 eot pdf",
  page: "css scss sass less styl html htm xhtml ejs hbs mustache pug njk jinja jinja2 j2 liquid tmpl",
  data: "csv tsv ndjson jsonl geojson po pot mo ftl xlf xliff srt vtt snap golden expected map log bib stdout stderr",
  settings:
    "json json5 jsonc yaml yml toml xml ini cfg conf cnf properties plist neon edn kdl hcl ron hjson cue dhall env pem crt csr cer srl",
};

interface Known {
  readonly fileClass: FileClass;
  readonly language?: string;
}

const known = new Map<string, Known>();
for (const [fileClass, languages] of [
  ["compiled", compiledLanguages],
  ["script", scriptLanguages],
  ["program", programLanguages],
] as const) {
  for (const [language, endings] of Object.entries(languages)) {
    for (const ending of endings.split(" ")) known.set(ending, { fileClass, language });
  }
}
for (const [fileClass, endings] of Object.entries(others)) {
  for (const ending of endings.split(" ")) known.set(ending, { fileClass: fileClass as FileClass });
}

/** Of a name that `foldPath` has folded; undefined for an ending that is not known, or none. */
export function knownFile(name: string): Known | undefined {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? known.get(name.slice(dot + 1)) : undefined;
}

/** Names of texts for people that have no ending, also where case makes no difference: `install` would be a program. */
const proseNames =
  /^(?:authors|contributors|maintainers|credits|thanks|changelog|changes|news|patents|todo|faq|contributing|(?:readme|(?:un)?licen[cs]e|copying|copyright|notice)(?:[-_.][a-z0-9-]+)?)$/;

/** Names of notes that people write for each other. */
const noteNames =
  /^(?:acknowledge?ments|history|security|support|code[-_]of[-_]conduct|governance|release[-_]?notes|releasing|version|architecture|glossary|design|roadmap|upgrad(?:e|ing)|migrat(?:ion|ing)|install(?:ation)?|building|development|hacking|testing|style(?:[-_]guide)?|backers|sponsors|adopters|usage|examples?|benchmarks?|features|overview|index|summary|(?:user[-_])?guide|translations?|threat[-_]model)$/;

/** Kinds of file that are bytes by nature. */
const notText =
  /\.(?:png|jpe?g|gif|webp|avif|bmp|ico|icns|tiff?|psd|mp[34]|m4a|og[gav]|wav|flac|webm|mov|ttf|otf|woff2?|eot|pdf|mo|golden|expected|log|stdout|stderr|pem|crt|csr|cer|srl|pickle|joblib|dill)$/;

/**
 * Files that a person expects to read in a diff, by their ending. SECURITY: a picture of the kind SVG and a snapshot of a test
 * are programs, too, and a zero byte or another encoding would keep them from the rules about contents.
 */
export const isReadable = (name: string): boolean => knownFile(name) !== undefined && !notText.test(name);

/** Texts for people that have no ending. */
export const isProseName = (name: string): boolean => !name.includes(".") && proseNames.test(name);

/** A note whose name is in capitals, as agents' instructions are, and none of those that people write for each other. */
export const isUnknownNote = (name: string): boolean => {
  const stem = /^([A-Z][A-Z0-9_-]*)(?:\.(?:md|mdx|markdown|txt))$/.exec(name)?.[1];
  if (stem === undefined) return false;
  return !proseNames.test(stem.toLowerCase()) && !noteNames.test(stem.toLowerCase());
};
