import { asObject, parseObject } from "./json-text.ts";
import { packageListName, requirementsFile } from "./package-list-name.ts";

/** One part of the text that names a source. */
export interface Mention {
  readonly value: string;
  /** The text by which the line is found again. */
  readonly needle: string;
}

type Read = (text: string) => readonly Mention[] | undefined;

const maxMentions = 200_000;

const hasScheme = (value: string): boolean => /^[\w.@+-]{2,}:/.test(value);

/** The source in a field that takes an address or a directory: without a scheme it is a directory. */
const sourceOf = (value: string): string => (hasScheme(value) ? value : `path:${value}`);

/** Every text below the given keys, at any depth; undefined when it is no JSON. */
const jsonKeys =
  (keys: readonly string[], keysOfUrls: readonly string[] = [], keysOfPaths: readonly string[] = []): Read =>
  (text) => {
    const root = parseObject(text);
    if (!root) return undefined;
    const found: Mention[] = [];
    const add = (value: unknown, isPath = false) => {
      if (typeof value !== "string" || value === "") return;
      found.push({ value: isPath ? sourceOf(value) : value, needle: JSON.stringify(value).slice(1, -1) });
    };
    const open: unknown[] = [root];
    while (open.length > 0 && found.length < maxMentions) {
      const value = open.pop();
      if (Array.isArray(value)) for (const one of value) open.push(one);
      for (const [key, inner] of Object.entries(asObject(value) ?? {})) {
        if (keys.includes(key)) add(inner);
        if (keysOfPaths.includes(key)) add(inner, true);
        if (keysOfUrls.includes(key)) for (const url of Object.keys(asObject(inner) ?? {})) add(url);
        if (typeof inner === "object" && inner !== null) open.push(inner);
      }
    }
    return found;
  };

const dependencyKeys = [
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
  "overrides",
  "resolutions",
];

/** A package that is a link is a directory of this machine, whatever its name was before. */
const npmLock: Read = (text) => {
  const links = Object.values(asObject(parseObject(text)?.["packages"]) ?? {}).flatMap((entry) => {
    const { link, resolved } = asObject(entry) ?? {};
    return link === true && typeof resolved === "string"
      ? [{ value: sourceOf(resolved), needle: JSON.stringify(resolved) }]
      : [];
  });
  const others = jsonKeys(["resolved", "version", "from"])(text);
  return others && [...links, ...others];
};

/** A version, a range of versions, or the name of one. */
const isVersion = (value: string): boolean => /^[\w\s.*^~<>=|+-]*$/.test(value);

/** Dependencies of a package.json: their values are versions or sources. An alias is a matter of its name. */
const packageJson: Read = (text) => {
  const root = parseObject(text);
  if (!root) return undefined;
  const found: Mention[] = [];
  const open = dependencyKeys.map((key) => root[key]);
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "string") {
      // `owner/name` is short for a repository on GitHub.
      const isShort = /^[\w.-]+\/[\w.-]+(?:#.*)?$/.test(value) && !value.startsWith(".");
      const isPath = !isShort && (!isVersion(value) || /\.(?:tgz|tar(?:\.gz)?)$/i.test(value));
      const source = isPath && !value.startsWith("$") ? sourceOf(value) : value;
      found.push({ value: isShort ? `github:${value}` : source, needle: value });
    } else for (const inner of Object.values(asObject(value) ?? {})) open.push(inner);
  }
  return found;
};

/** The first group of each match in a line that is no comment; one that is called `path` is a directory without a scheme. */
const lines =
  (...patterns: readonly RegExp[]): Read =>
  (text) => {
    const found: Mention[] = [];
    for (const line of text.split("\n")) {
      if (/^\s*(?:\/\/|deprecated:)/.test(line)) continue;
      for (const pattern of patterns) {
        for (const match of line.slice(0, 10_000).matchAll(pattern)) {
          const path = match.groups?.["path"];
          found.push({ value: path === undefined ? match[1]! : sourceOf(path), needle: match[0].trim() });
        }
      }
    }
    return found;
  };

const anyUrl = /((?:[a-z][a-z0-9+.-]{1,20}:\/\/|git@)[^\s"'<>,;)\]}]{1,2000})/gi;
const registry = /((?:registry|sparse|git)\+[^\s"']{1,2000})/g;

const requirements = lines(
  /^\s*(?:--index-url|--extra-index-url|-i|--find-links|-f)[\s=]+(\S+)/g,
  /^\s*(?:-e|--editable)[\s=]+((?:git|hg|svn|bzr|https?|file|ssh)\S+)/g,
  /(?:@|^)\s*((?:git\+|hg\+|svn\+|bzr\+)?(?:https?|ssh|file|git):\/\/\S+)/g,
  /\s@\s*(?<path>(?:\.{0,2}\/|~)\S+|file:(?!\/\/)\S+)/g,
);

const formats: readonly { readonly name: RegExp; readonly read: Read }[] = [
  {
    name: /^(?:package-lock\.json|npm-shrinkwrap\.json|\.package-lock\.json)$/,
    read: npmLock,
  },
  { name: /^package\.json$/, read: packageJson },
  { name: /^pipfile\.lock$/, read: jsonKeys(["url", "git"], [], ["file", "path"]) },
  { name: /^composer\.(?:lock|json)$/, read: jsonKeys([], [], ["url"]) },
  { name: /^deno\.(?:lock|jsonc?)$/, read: jsonKeys([], ["remote", "redirects"]) },
  { name: /^packages\.lock\.json$/, read: jsonKeys(["resolved"]) },
  {
    name: /^yarn\.lock$/,
    read: lines(
      /resolved\s+"?([^\s"]+)/g,
      /resolution:\s+"[^"]*?@((?:https?|git|ssh|file|link|portal|patch|exec)[^"]*)/g,
    ),
  },
  {
    name: /^(?:pnpm-lock\.yaml|bun\.lock)$/,
    read: lines(anyUrl, /((?:file|link|exec):[^\s'",}]+)/g, /\bdirectory:\s*(?<path>[^\s'",}]+)/g),
  },
  {
    name: /^cargo\.(?:lock|toml)$/,
    read: lines(registry, /(?:git|index|registry)\s*=\s*"([^"]+:\/\/[^"]+)"/g),
  },
  {
    name: /^(?:poetry\.lock|uv\.lock|pdm\.lock|pylock.*\.toml|pyproject\.toml|pixi\.lock|pipfile|conda-lock\.yml)$/,
    read: lines(
      /(?:url|git|registry|file|index-url|reference)\s*=\s*"([^"]+:\/\/[^"]+)"/g,
      /(?:^|")[\w.[\]-]+\s*@\s*([a-z+]+:\/\/[^\s"]+)/g,
      /\b(?:editable|directory|path|virtual)\s*=\s*"(?<path>[^"]+)"/g,
    ),
  },
  { name: requirementsFile, read: requirements },
  { name: /^go\.(?:mod|work)$/, read: lines(/=>\s*([^\s]+)/g) },
  { name: /^(?:gemfile\.lock|gems\.locked)$/, read: lines(/remote:\s*(?<path>\S+)/g) },
  { name: /^gemfile$/, read: lines(anyUrl, /github:\s*["']([^"']+)/g) },
  {
    name: /^(?:podfile\.lock|package\.resolved|mix\.lock|pubspec\.lock|cartfile\.resolved|flake\.lock|gradle\.lockfile)$/,
    read: lines(anyUrl, /"location"\s*:\s*"(?<path>[^"]+)"/g, /^\s+path:\s*"?(?<path>[^\s"]+)/g),
  },
];

/** How sources are read from a file of this name; undefined for files that are no list of packages. */
export function lockfileReader(path: string): { readonly read: Read; readonly isGo: boolean } | undefined {
  const name = packageListName(path);
  const format = formats.find((one) => one.name.test(name));
  return format && { read: format.read, isGo: name.startsWith("go.") };
}
