/** Version managers, as data: where each keeps the versions of a language, and which directories a program needs of one. */
import type { ToolLanguage } from "../../contract/toolchain.ts";

export interface Manager {
  readonly name: string;
  readonly language: ToolLanguage;
  /** The variable that names its root, and where that is below the home without it. */
  readonly root: readonly [variable: string, below: string];
  /** The directory of its versions, below the root; without it, the root has one version. */
  readonly versions?: string;
  /** Where in the directory of a version its toolchain is. */
  readonly inside?: string;
  /** For the PATH, in the toolchain. */
  readonly bin: string;
  /** Variables with the place of the toolchain, and of the root. */
  readonly home?: string;
  readonly rootVariable?: string;
  /** A small file that names the person's own choice, and how it is read. */
  readonly preferred?: readonly [file: string, pattern: RegExp];
}

const firstLine = /^\s*(\S+)/;
const several = (
  name: string,
  root: Manager["root"],
  versions: (plugin: string) => string,
  plugins: Partial<Record<ToolLanguage, string>>,
): Manager[] =>
  Object.entries(plugins).map(([language, plugin]) => ({
    name,
    language: language as ToolLanguage,
    root,
    versions: versions(plugin),
    bin: "bin",
    ...(language === "go" && name === "asdf" ? { inside: "go" } : {}),
    ...(language === "java" ? { home: "JAVA_HOME" } : {}),
  }));

const sdkman = (language: ToolLanguage, home: string): Manager => ({
  name: "sdkman",
  language,
  root: ["SDKMAN_DIR", ".sdkman"],
  versions: `candidates/${language}`,
  bin: "bin",
  home,
});

export const managers: readonly Manager[] = [
  {
    name: "pyenv",
    language: "python",
    root: ["PYENV_ROOT", ".pyenv"],
    versions: "versions",
    bin: "bin",
    rootVariable: "PYENV_ROOT",
    preferred: ["version", firstLine],
  },
  {
    name: "rustup",
    language: "rust",
    root: ["RUSTUP_HOME", ".rustup"],
    versions: "toolchains",
    bin: "bin",
    preferred: ["settings.toml", /^default_toolchain\s*=\s*"([^"]+)"/m],
  },
  {
    name: "nvm",
    language: "node",
    root: ["NVM_DIR", ".nvm"],
    versions: "versions/node",
    bin: "bin",
    preferred: ["alias/default", firstLine],
  },
  {
    name: "volta",
    language: "node",
    root: ["VOLTA_HOME", ".volta"],
    versions: "tools/image/node",
    bin: "bin",
    preferred: ["tools/user/platform.json", /"runtime"\s*:\s*"([^"]+)"/],
  },
  {
    name: "fnm",
    language: "node",
    root: ["FNM_DIR", ".local/share/fnm"],
    versions: "node-versions",
    inside: "installation",
    bin: "bin",
  },
  {
    name: "rbenv",
    language: "ruby",
    root: ["RBENV_ROOT", ".rbenv"],
    versions: "versions",
    bin: "bin",
    preferred: ["version", firstLine],
  },
  { name: "go", language: "go", root: ["GOSDK", "sdk"], versions: ".", bin: "bin", home: "GOROOT" },
  sdkman("java", "JAVA_HOME"),
  sdkman("maven", "MAVEN_HOME"),
  sdkman("gradle", "GRADLE_HOME"),
  ...several("asdf", ["ASDF_DATA_DIR", ".asdf"], (plugin) => `installs/${plugin}`, {
    node: "nodejs",
    python: "python",
    go: "golang",
    rust: "rust",
    java: "java",
    maven: "maven",
    gradle: "gradle",
    ruby: "ruby",
    deno: "deno",
    bun: "bun",
  }),
  ...several("mise", ["MISE_DATA_DIR", ".local/share/mise"], (plugin) => `installs/${plugin}`, {
    node: "node",
    python: "python",
    go: "go",
    java: "java",
    maven: "maven",
    gradle: "gradle",
    ruby: "ruby",
    deno: "deno",
    bun: "bun",
  }),
  { name: "bun", language: "bun", root: ["BUN_INSTALL", ".bun"], inside: "bin", bin: "." },
  { name: "deno", language: "deno", root: ["DENO_INSTALL", ".deno"], inside: "bin", bin: "." },
];

/** The program of each language, by which the host's own is found. */
export const programs: Readonly<Record<ToolLanguage, string>> = {
  node: "node",
  python: "python3",
  go: "go",
  rust: "cargo",
  java: "java",
  maven: "mvn",
  gradle: "gradle",
  ruby: "ruby",
  deno: "deno",
  bun: "bun",
};
