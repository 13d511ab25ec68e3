import { parse } from "smol-toml";
import { packageListName, requirementsFile } from "../package-list-name.ts";
import { asObject, parseObject } from "../json-text.ts";

/** One package that a list names. */
export interface ListedPackage {
  /** Its name, and of an alias also what it really is. */
  readonly name: string;
  /** The text by which the line is found again. */
  readonly needle: string;
}

type Read = (text: string) => readonly ListedPackage[] | undefined;

const maxPackages = 200_000;

const named = (names: readonly string[]): ListedPackage[] => names.map((name) => ({ name, needle: name }));

/** `"a": "npm:b@1"` installs b under the name of a. */
const aliased = (name: string, version: unknown): ListedPackage => {
  const target =
    typeof version === "string" ? /^(?:npm|jsr):((?:@[^/@]+\/)?[^@]+)/.exec(version)?.[1] : undefined;
  return target === undefined || target === name
    ? { name, needle: JSON.stringify(name) }
    : { name: `${name}, which is ${target}`, needle: JSON.stringify(name) };
};

const packageKeys = [
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
  "bundledDependencies",
  "bundleDependencies",
  "require",
  "require-dev",
  "overrides",
  "resolutions",
  "imports",
];

const jsonTables: Read = (text) => {
  const root = parseObject(text);
  if (!root) return undefined;
  return packageKeys.flatMap((key) => {
    const table = root[key];
    if (Array.isArray(table)) return named(table.filter((one) => typeof one === "string"));
    return Object.entries(asObject(table) ?? {}).flatMap(([name, version]) => [
      aliased(name, version),
      ...innerAliases(version),
    ]);
  });
};

/** `"overrides": { "a": { "b": "npm:evil@1" } }` replaces b below a. */
function innerAliases(table: unknown): ListedPackage[] {
  const found: ListedPackage[] = [];
  const open = [asObject(table)];
  while (open.length > 0) {
    for (const [name, value] of Object.entries(open.pop() ?? {})) {
      const inner = asObject(value);
      if (inner) open.push(inner);
      else if (aliased(name, value).name !== name) found.push(aliased(name, value));
    }
  }
  return found;
}

/**
 * The name by which a registry serves the package: `…/evil/-/evil-1.0.0.tgz` is evil, under any name of the entry. A
 * plain version of another host has no such form.
 */
function servedName(url: unknown): string | undefined {
  if (typeof url !== "string") return undefined;
  const path = /^https?:\/\/[^/]+\/(.{1,1000}?)\/-\/[^/]+\.t(?:ar\.)?gz/i.exec(url)?.[1];
  const [name, scope] = path?.replaceAll(/%2f/gi, "/").split("/").toReversed() ?? [];
  return scope?.startsWith("@") ? `${scope}/${name}` : name;
}

/** `node_modules/a/node_modules/@b/c` is @b/c, unless the entry says another name, or is served under one. */
const npmLock: Read = (text) => {
  const root = parseObject(text);
  if (!root) return undefined;
  const found: ListedPackage[] = [];
  for (const [path, entry] of Object.entries(asObject(root["packages"]) ?? {})) {
    const at = path.lastIndexOf("node_modules/");
    if (at === -1) continue;
    const name = path.slice(at + "node_modules/".length);
    const { name: own, resolved } = asObject(entry) ?? {};
    const real = servedName(resolved) ?? (typeof own === "string" ? own : undefined);
    const label = real !== undefined && real !== name ? `${name}, which is ${real}` : name;
    found.push({ name: label, needle: JSON.stringify(path) });
  }
  const open = [asObject(root["dependencies"])];
  while (open.length > 0 && found.length < maxPackages) {
    for (const [name, entry] of Object.entries(open.pop() ?? {})) {
      const real = servedName(asObject(entry)?.["resolved"]);
      found.push(
        aliased(name, real === undefined || real === name ? asObject(entry)?.["version"] : `npm:${real}`),
      );
      const inner = asObject(asObject(entry)?.["dependencies"]);
      if (inner) open.push(inner);
    }
  }
  return found;
};

const composerLock: Read = (text) => {
  const root = parseObject(text);
  if (!root) return undefined;
  const lists = [root["packages"], root["packages-dev"]].flatMap((list) => (Array.isArray(list) ? list : []));
  return named(lists.map((one) => asObject(one)?.["name"]).filter((name) => typeof name === "string"));
};

/**
 * The first group of each match, a line at a time; lines of comments are left out. SECURITY: the lines are the box's, so no two
 * parts of a pattern that follow one another may take the same characters again and again.
 */
const lines =
  (comment: RegExp, ...patterns: readonly RegExp[]): Read =>
  (text) => {
    const found: ListedPackage[] = [];
    for (const line of text.split("\n")) {
      if (comment.test(line)) continue;
      for (const pattern of patterns) {
        for (const match of line.slice(0, 10_000).matchAll(pattern)) {
          if (found.length < maxPackages) found.push({ name: match[1]!, needle: match[0].trim() });
        }
      }
    }
    return found;
  };

/** An entry of yarn's, and what it is resolved to: names that differ are an alias. */
const yarnLock: Read = (text) => {
  const found: ListedPackage[] = [];
  let name = "";
  for (const line of text.split("\n")) {
    const key = /^"?((?:@[^/\s"@]+\/)?[^@\s"]+)@(npm:(?!\d|[~^<>=*])[^\s",:]+)?/.exec(line);
    if (key !== null && !line.startsWith("#")) {
      name = key[1]!;
      found.push({ name: `${name}@${key[2] ?? ""}`, needle: key[0] });
      continue;
    }
    const real =
      servedName(/^\s+resolved\s+"?([^\s"]+)/.exec(line)?.[1]) ??
      /^\s+resolution:\s+"?((?:@[^/\s"@]+\/)?[^@\s"]+)@npm:/.exec(line)?.[1];
    if (real !== undefined && real !== name)
      found.push({ name: `${name}, which is ${real}`, needle: line.trim() });
  }
  return found;
};

/** `"a": ["b@1.0.0", …]` is b under the name of a. */
const bunLock: Read = (text) =>
  text.split("\n").flatMap((line) => {
    const [match, key, real] = /^\s{4}"([^"]+)":\s*\[\s*(?:"((?:@[^/"]+\/)?[^@"]+)@)?/.exec(line) ?? [];
    if (match === undefined || key === undefined) return [];
    const own = /(?:@[^/]+\/)?[^/]+$/.exec(key)?.[0] ?? key;
    return [
      { name: real === undefined || real === own ? key : `${key}, which is ${real}`, needle: match.trim() },
    ];
  });

/** All names below some tables of a lock file in JSON; the last key of a path is `*` where every table counts. */
const jsonNames =
  (...tables: readonly string[]): Read =>
  (text) => {
    const root = parseObject(text);
    if (!root) return undefined;
    return tables.flatMap((keyPath) => {
      let found: Record<string, unknown>[] = [root];
      for (const key of keyPath.split("."))
        found = found.flatMap((one) =>
          (key === "*" ? Object.values(one) : [own(one, key)])
            .map(asObject)
            .filter((inner) => inner !== undefined),
        );
      return named(
        found.flatMap((one) => Object.keys(one).map((name) => name.replace(/(?<=.)@(?:npm:)?[\d^~].*$/, ""))),
      );
    });
  };

const own = (table: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** The inputs of a flake: the same name from another owner is another input. */
const flakeLock: Read = (text) => {
  const nodes = asObject(parseObject(text)?.["nodes"]);
  if (!nodes) return undefined;
  return Object.values(nodes).flatMap((node) => {
    const locked = asObject(asObject(node)?.["locked"]);
    if (!locked) return [];
    const address = ["type", "host", "owner", "url", "path", "id", "repo"]
      .map((key) => own(locked, key))
      .filter((part) => typeof part === "string");
    const name = address.join("/");
    return [{ name, needle: address.at(-1) ?? "" }];
  });
};

const hash = /^\s*#/;
const slashes = /^\s*\/\//;

/** `Foo_bar [x] >= 1` → `foo-bar`, as package indexes compare names. */
const requirementName = (text: string): string | undefined =>
  /^\s*([A-Za-z0-9][\w.-]*)/
    .exec(text)?.[1]
    ?.replaceAll(/[-_.]+/g, "-")
    .toLowerCase();

const requirements: Read = (text) =>
  text.split("\n").flatMap((line) => {
    // Hashes only narrow what is taken; every other option names a file, a place or a permission.
    if (/^\s*-(?!-hash\b)/.test(line)) return [{ name: line.trim().slice(0, 200), needle: line.trim() }];
    const text = line.trim();
    if (text === "" || text.startsWith("#") || text.startsWith("--hash")) return [];
    // Anything but a name is a file or an address.
    return [{ name: requirementName(text) ?? text.slice(0, 200), needle: text }];
  });

function readTable(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(parse(text, { maxDepth: 32 }));
  } catch {
    return undefined;
  }
}

/** Every table or list below one of the keys, wherever it stands. */
const tomlTables =
  (isTable: (key: string) => boolean): Read =>
  (text) => {
    const root = readTable(text);
    if (!root) return undefined;
    const found: ListedPackage[] = [];
    const open: [value: unknown, isList: boolean][] = [[root, false]];
    while (open.length > 0 && found.length < maxPackages) {
      const [value, isList] = open.pop()!;
      if (Array.isArray(value)) {
        for (const one of value) {
          const name = isList && typeof one === "string" ? requirementName(one) : undefined;
          if (name !== undefined) found.push({ name, needle: String(one) });
          else if (typeof one === "object") open.push([one, false]);
        }
        continue;
      }
      for (const [key, inner] of Object.entries(asObject(value) ?? {})) {
        const isOne =
          isList && (typeof inner === "string" || (asObject(inner) !== undefined && !isTable(key)));
        if (isOne && key !== "python") found.push(tomlPackage(key, inner));
        else open.push([inner, isList || isTable(key)]);
      }
    }
    return found;
  };

/** The names of the `[[package]]` tables. */
const tomlLock: Read = (text) => {
  const root = readTable(text);
  if (!root) return undefined;
  const lists = [root["package"], root["packages"]].flatMap((list) => (Array.isArray(list) ? list : []));
  return named(lists.map((one) => asObject(one)?.["name"]).filter((name) => typeof name === "string"));
};

function tomlPackage(key: string, value: unknown): ListedPackage {
  const real = asObject(value)?.["package"];
  return { name: typeof real === "string" && real !== key ? `${key}, which is ${real}` : key, needle: key };
}

const isPythonTable = (key: string): boolean =>
  /^(?:dependencies|optional-dependencies|dependency-groups|dev-dependencies|requires|packages|dev-packages|pypi-dependencies|build-dependencies|host-dependencies)$/.test(
    key,
  );
const isCargoTable = (key: string): boolean => /^(?:(?:dev-|build-)?dependencies|patch|replace)$/.test(key);

const goMod = lines(
  slashes,
  /^\s*(?:require\s+)?([\w.~-]+\.[\w~-]+\/[^\s]+|[\w.-]+\.[a-z]{2,})\s+v\d/g,
  /^\s*((?:tool|toolchain|godebug|retract)\s+\S+)/g,
);

const jvmNames = lines(
  /^\s*(?:\/\/|\*)/,
  /["']([\w.-]+:[\w.-]+)(?::[^"']*)?["']/g,
  /\bid[\s(]*["']([\w.-]+)["']/g,
  /\bmodule\s*=\s*"([\w.-]+:[\w.-]+)"/g,
  /"([\w.-]+"\s*%%?%?\s*"[\w.-]+)"/g,
  /\b(?:apply\s+from|classpath|includeBuild)[\s:(]*["']([^"']+)/g,
);

const dotnet = lines(
  /^\s*<!--/,
  /<(?:PackageReference|PackageVersion|GlobalPackageReference|Analyzer|Reference|DotNetCliToolReference|ProjectReference|package)\b[^>]{0,300}?\b(?:Include|id)="([^"]+)"/gi,
  /<(?:Import\b[^>]{0,300}?\bProject|Project\b[^>]{0,300}?\bSdk|Sdk\b[^>]{0,300}?\bName|UsingTask\b[^>]{0,300}?\bAssemblyFile)="([^"]+)"/gi,
);

/** `"a": {:hex, :b, …` is b under the name of a. */
const mixLock: Read = (text) =>
  text.split("\n").flatMap((line) => {
    const [match, name, real] = /^\s*"([^"]+)":\s*(?:\{:hex,\s*:"?([\w.-]+))?/.exec(line) ?? [];
    if (match === undefined || name === undefined) return [];
    const label = real === undefined || real === name ? name : `${name}, which is ${real}`;
    return [{ name: label, needle: match.trim() }];
  });

const formats: readonly { readonly name: RegExp; readonly read: Read }[] = [
  { name: /^(?:package|composer|bower|deno|import_map|vcpkg|dub)\.json$/, read: jsonTables },
  { name: /^(?:package-lock|npm-shrinkwrap|\.package-lock)\.json$/, read: npmLock },
  { name: /^composer\.lock$/, read: composerLock },
  { name: /^pipfile\.lock$/, read: jsonNames("default", "develop") },
  { name: /^packages\.lock\.json$/, read: jsonNames("dependencies.*") },
  { name: /^deno\.lock$/, read: jsonNames("specifiers", "packages.specifiers", "npm", "jsr") },
  { name: /^flake\.lock$/, read: flakeLock },
  { name: /^package\.resolved$/, read: lines(slashes, /"(?:identity|package)"\s*:\s*"([^"]+)"/g) },
  { name: /^pubspec\.lock$/, read: lines(hash, /^ {2}([\w"']+):\s*$/g) },
  { name: /^podfile\.lock$/, read: lines(hash, /^ {2}- "?([^\s":(]+)/g) },
  {
    name: /^cartfile(?:\.resolved|\.private)?$/,
    read: lines(hash, /^\s*((?:github|git|binary)\s+"[^"]+")/g),
  },
  { name: /^conda-lock\.ya?ml$/, read: lines(hash, /^\s*(?:- )?name:\s*([\w.-]+)/g) },
  {
    name: /^pixi\.lock$/,
    read: lines(
      hash,
      /^\s*- (?:conda|pypi):\s*\S*\/([\w.]+(?:-[a-z][\w.]*)*)-\d/gi,
      /^\s*- (?:kind|name):\s*([\w.-]+)/g,
    ),
  },
  { name: requirementsFile, read: requirements },
  { name: /^(?:pyproject\.toml|pipfile|pixi\.toml|hatch\.toml)$/, read: tomlTables(isPythonTable) },
  { name: /^cargo\.toml$/, read: tomlTables(isCargoTable) },
  {
    name: /^(?:cargo\.lock|poetry\.lock|uv\.lock|pdm\.lock|pylock.*\.toml)$/,
    read: tomlLock,
  },
  { name: /^yarn\.lock$/, read: yarnLock },
  { name: /^pnpm-lock\.yaml$/, read: lines(hash, /^ {2}['"]?\/?((?:@[^/@\s'"]+\/)?[^@/\s'":]+)(?=[@/]\d)/g) },
  { name: /^bun\.lock$/, read: bunLock },
  { name: /^go\.(?:mod|work)$/, read: goMod },
  {
    name: /^(?:gemfile|gems\.rb|.*\.gemspec)$/,
    read: lines(hash, /^\s*gem[\s(]*["']([^"']+)/g, /add_(?:\w+_)?dependency[\s(]*["']([^"']+)/g),
  },
  { name: /^(?:gemfile\.lock|gems\.locked)$/, read: lines(hash, /^ {4}([\w.-]+) \(/g) },
  { name: /^pom\.xml$/, read: lines(/^\s*<!--/, /<artifactId>\s*([^<\s]+)/g) },
  {
    name: /^(?:.*\.gradle(?:\.kts)?|libs\.versions\.toml|.*\.sbt|ivy\.xml)$/,
    read: jvmNames,
  },
  { name: /^(?:.*\.(?:cs|fs|vb|vcx)proj|directory\..*\.(?:props|targets)|packages\.config)$/, read: dotnet },
  { name: /^mix\.exs$/, read: lines(hash, /\{\s*:(\w+)\s*,/g) },
  { name: /^mix\.lock$/, read: mixLock },
  { name: /^gradle\.lockfile$/, read: lines(hash, /^\s*([\w.-]+:[\w.-]+):/g) },
  { name: /^pubspec\.yaml$/, read: lines(hash, /^ {2}(\w+):/g) },
  {
    name: /^package\.swift$/,
    read: lines(slashes, /\.package\s{0,20}\(.{0,200}?(?:url|path)\s*:\s*"([^"]+)/g),
  },
  {
    name: /^(?:podfile|.*\.podspec)$/,
    read: lines(hash, /^\s*pod\s+["']([^"']+)/g, /\.dependency\s+["']([^"']+)/g),
  },
  { name: /^(?:environment|conda)\.ya?ml$/, read: lines(hash, /^\s*-\s+([\w.-]+)/g) },
];

/** How the packages of a file of this name are read; undefined for files that are no such list. */
export const packageReader = (path: string): Read | undefined => {
  const name = packageListName(path);
  return formats.find((one) => one.name.test(name))?.read;
};
