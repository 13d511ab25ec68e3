/**
 * Which toolchains a project uses, by its own files. SECURITY: they are text of a repository. Each is read with simple
 * patterns, never run, and a version is a word that is compared. A pattern takes time in proportion to the text, or a repository
 * would hold up the daemon.
 */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { ToolLanguage, ToolNeed } from "../../contract/toolchain.ts";

type Reader = (text: string) => readonly (readonly [ToolLanguage, string | undefined])[];

const version = /^[0-9A-Za-z^~>=<][0-9A-Za-z.*+_/^~>=<, -]{0,63}$/;
const clean = (text: string | undefined): string | undefined => {
  const word = text?.trim();
  return word !== undefined && version.test(word) ? word : undefined;
};

const firstLine =
  (language: ToolLanguage): Reader =>
  (text) => [[language, clean(text.split("\n").find((line) => line.trim() !== "" && !line.startsWith("#")))]];

const only =
  (language: ToolLanguage, pattern?: RegExp): Reader =>
  (text) => [[language, pattern && clean(pattern.exec(text)?.[1])]];

const toolNames: Readonly<Record<string, ToolLanguage>> = {
  node: "node",
  nodejs: "node",
  python: "python",
  go: "go",
  golang: "go",
  rust: "rust",
  java: "java",
  maven: "maven",
  gradle: "gradle",
  ruby: "ruby",
  deno: "deno",
  bun: "bun",
};

/**
 * Lines of a tool's name and a version, in the forms of .tool-versions, mise.toml and .sdkmanrc. In steps that each read a line
 * once.
 */
const toolLines: Reader = (text) =>
  text.split("\n").flatMap((line) => {
    const [, name = "", rest = ""] = /^"?([a-z]+)"?([=\s].*)$/s.exec(line.trimStart()) ?? [];
    const language = Object.hasOwn(toolNames, name) ? toolNames[name] : undefined;
    if (language === undefined) return [];
    const wanted = /^[^"#\]\s]+/.exec(rest.replace(/^[=\s["]+/, ""))?.[0];
    return wanted === undefined ? [] : [[language, clean(wanted)] as const];
  });

const maxSectionLength = 2_000;

/** The version of Node in the first object of this name. */
function nodeIn(text: string, section: string): string | undefined {
  const start = text.search(new RegExp(`"${section}"\\s*:`));
  if (start === -1) return undefined;
  const [, inside = ""] = /^"[a-z]+"\s*:\s*\{([^}]*)/.exec(text.slice(start, start + maxSectionLength)) ?? [];
  return /"node"\s*:\s*"([^"]+)"/.exec(inside)?.[1];
}

function packageJson(text: string): ReturnType<Reader> {
  const engines = nodeIn(text, "engines");
  const volta = nodeIn(text, "volta");
  const bun = /"packageManager"\s*:\s*"bun@([^"+]+)/.exec(text)?.[1];
  return [["node", clean(volta ?? engines)], ...(bun === undefined ? [] : [["bun", clean(bun)] as const])];
}

const pom: Reader = (text) => [
  [
    "java",
    clean(/<(?:maven\.compiler\.release|java\.version|maven\.compiler\.target)>([^<]+)</.exec(text)?.[1]),
  ],
  ["maven", undefined],
];
const gradle: Reader = (text) => [
  [
    "java",
    clean(/JavaLanguageVersion\.of\((\d+)\)|jvmToolchain\((\d+)\)/.exec(text)?.slice(1).find(Boolean)),
  ],
  ["gradle", undefined],
];

/** The more exact ones first: a later file adds a language, and no other version of it. */
const readers: readonly (readonly [string, Reader])[] = [
  [".tool-versions", toolLines],
  ["mise.toml", toolLines],
  [".mise.toml", toolLines],
  [".sdkmanrc", toolLines],
  [".nvmrc", firstLine("node")],
  [".node-version", firstLine("node")],
  [".python-version", firstLine("python")],
  [".ruby-version", firstLine("ruby")],
  ["rust-toolchain.toml", only("rust", /^[ \t]*channel\s*=\s*"([^"]+)"/m)],
  ["rust-toolchain", only("rust", /^[ \t]*(?:channel[ \t]*=[ \t]*)?"?([0-9a-z][\w.-]*)"?[ \t\r]*$/m)],
  ["go.mod", (text) => [["go", clean(/^toolchain\s+(?:go)?(\S+)/m.exec(text)?.[1])]]],
  ["Cargo.toml", only("rust")],
  ["pyproject.toml", only("python", /^[ \t]*requires-python\s*=\s*"([^"]+)"/m)],
  ["setup.py", only("python")],
  ["setup.cfg", only("python")],
  ["requirements.txt", only("python")],
  ["Pipfile", only("python", /^[ \t]*python_version\s*=\s*"([^"]+)"/m)],
  ["package.json", packageJson],
  ["pom.xml", pom],
  ["build.gradle", gradle],
  ["build.gradle.kts", gradle],
  ["Gemfile", only("ruby", /^[ \t]*ruby\s+["']([^"']+)["']/m)],
  ["deno.json", only("deno")],
  ["deno.jsonc", only("deno")],
  ["bun.lockb", only("bun")],
  ["bun.lock", only("bun")],
];

export const needFiles: readonly string[] = readers.map(([name]) => name);

/** Pure: the texts by name of the file. */
export function projectNeeds(texts: ReadonlyMap<string, string>): readonly ToolNeed[] {
  const needs = new Map<ToolLanguage, ToolNeed>();
  for (const [file, read] of readers) {
    const text = texts.get(file);
    if (text === undefined) continue;
    for (const [language, wanted] of read(text)) {
      const known = needs.get(language);
      if (known !== undefined && (known.version !== undefined || wanted === undefined)) continue;
      needs.set(language, { language, file, ...omitUndefined({ version: wanted }) });
    }
  }
  return [...needs.values()];
}
