import { parse } from "smol-toml";
import { asObject, parseObject } from "../json-text.ts";
import { packageListName, requirementsFile } from "../package-list-name.ts";

/** A package as a lock file has it. */
export interface Locked {
  readonly name: string;
  readonly version: string;
  /** Hashes of its content, and commits; none where nothing is checked. */
  readonly sums: readonly string[];
}

type Read = (text: string) => readonly Locked[];

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const some = (...values: readonly unknown[]): string[] => values.map(text).filter((value) => value !== "");

const goSum: Read = (content) =>
  content.split("\n").flatMap((line): Locked[] => {
    const [name, version, sum] = line.trim().split(/\s+/);
    return name !== undefined && version !== undefined && sum !== undefined
      ? [{ name, version, sums: [sum] }]
      : [];
  });

const maxPackages = 200_000;

const npmLock: Read = (content) => {
  const root = parseObject(content);
  const found: Locked[] = [];
  const open = [asObject(root?.["packages"]), asObject(root?.["dependencies"])];
  while (open.length > 0 && found.length < maxPackages) {
    for (const [name, value] of Object.entries(open.pop() ?? {})) {
      const { version, integrity, dependencies, inBundle, bundled } = asObject(value) ?? {};
      // A bundled package is checked with the package that brings it.
      if (inBundle !== true && bundled !== true)
        found.push({ name, version: text(version), sums: some(integrity) });
      const inner = Object.values(asObject(dependencies) ?? {}).some((one) => asObject(one) !== undefined);
      if (inner) open.push(asObject(dependencies));
    }
  }
  return found;
};

/** Blocks that begin in the first column: the first name of the key is the package's. */
const yarnLock: Read = (content) =>
  content.split(/\n(?=[^\s#])/).flatMap((block) => {
    const name = /^"?((?:@[^/\s"@]+\/)?[^@\s"]+)@/.exec(block)?.[1];
    if (name === undefined) return [];
    const version = /^[ \t]+version:?[ \t]+"?([^"\s]+)/m.exec(block)?.[1] ?? "";
    const sum = /^[ \t]+(?:integrity|checksum:?)[ \t]+"?(?:\w{1,20}\/)?([^"\n]+)/m.exec(block)?.[1];
    const fragment = /^[ \t]+resolved[ \t]+"?[^\s"#]+#([^"\s]+)/m.exec(block)?.[1];
    return [{ name, version, sums: some(sum ?? fragment) }];
  });

/** Only below `packages:`; `snapshots:` has the same keys and no hashes. */
const pnpmLock: Read = (content) => {
  const packages = /^packages:\s*$([^]*?)(?=^\w|(?![^]))/m.exec(content)?.[1] ?? "";
  return packages.split(/\n(?= {2}\S)/).flatMap((block) => {
    const key = /^ {2}['"]?\/?((?:@[^/@\s'"]+\/)?[^@/\s'":]+)[@/]([^\s'":(]*)/.exec(block);
    if (key === null) return [];
    return [{ name: key[1]!, version: key[2]!, sums: some(/\bintegrity:\s*([^\s,}]+)/.exec(block)?.[1]) }];
  });
};

/** Every text below a key that names a hash, in an entry. */
function hashesIn(value: unknown): string[] {
  const found: string[] = [];
  const open: [value: unknown, isHash: boolean][] = [[value, false]];
  while (open.length > 0) {
    const [inner, isHash] = open.pop()!;
    if (typeof inner === "string" && isHash) found.push(inner);
    else if (Array.isArray(inner)) for (const one of inner) open.push([one, isHash]);
    else
      for (const [key, one] of Object.entries(asObject(inner) ?? {}))
        open.push([one, isHash || /^(?:checksum|hash(?:es)?|sha\d+|md5)$/.test(key)]);
  }
  return found;
}

const tomlLock: Read = (content) => {
  let root: Record<string, unknown>;
  try {
    root = parse(content, { maxDepth: 32 });
  } catch {
    return [];
  }
  return [...list(root["package"]), ...list(root["packages"])].map((value) => {
    const { name, version } = asObject(value) ?? {};
    return { name: text(name), version: text(version), sums: hashesIn(value) };
  });
};

/** The tables below some ways; `*` is every key. */
const jsonTables =
  (...ways: readonly string[]): Read =>
  (content) =>
    ways.flatMap((way) => {
      let found: unknown[] = [parseObject(content)];
      for (const key of way.split("."))
        found = found.flatMap((one) => {
          const table = asObject(one) ?? {};
          return key === "*" ? Object.values(table) : Object.hasOwn(table, key) ? [table[key]] : [];
        });
      return found.flatMap((table) =>
        Object.entries(asObject(table) ?? {}).map(([key, value]) => {
          const { version, resolved, hashes, contentHash, integrity } = asObject(value) ?? {};
          return {
            // `left@1.0.0` of Deno has its version in the key.
            name: key.replace(/(?<=.)@[\d^~].*$/, ""),
            version: text(version) || text(resolved) || key,
            sums: some(...list(hashes), contentHash, integrity, value),
          };
        }),
      );
    });

const composerLock: Read = (content) => {
  const root = parseObject(content);
  return [...list(root?.["packages"]), ...list(root?.["packages-dev"])].flatMap((one) => {
    const { name, version, source, dist } = asObject(one) ?? {};
    // A branch has another commit each time.
    if (/^dev-|-dev$/.test(text(version))) return [];
    const sums = [asObject(source)?.["reference"], asObject(dist)?.["reference"], asObject(dist)?.["shasum"]];
    return [{ name: text(name), version: text(version), sums: some(...sums) }];
  });
};

const swiftPins: Read = (content) => {
  const root = parseObject(content);
  return [...list(root?.["pins"]), ...list(asObject(root?.["object"])?.["pins"])].flatMap((one) => {
    const { identity, package: name, state } = asObject(one) ?? {};
    const { version, revision } = asObject(state) ?? {};
    return typeof version === "string"
      ? [{ name: text(identity) || text(name), version, sums: some(revision) }]
      : [];
  });
};

/** Each line with a package, its version and its hashes, by named groups. */
const lines =
  (pattern: RegExp): Read =>
  (content) =>
    content.split("\n").flatMap((line) => {
      const { name, version = "", sums = "" } = pattern.exec(line.slice(0, 10_000))?.groups ?? {};
      return name === undefined ? [] : [{ name, version, sums: sums.match(/[\w+/=:-]{6,}/g) ?? [] }];
    });

/** Blocks that begin with a line of some form, each with fields of its own. */
const blocks =
  (start: RegExp, name: RegExp, version: RegExp, sum: RegExp): Read =>
  (content) =>
    content.split(start).flatMap((block) => {
      const found = name.exec(block)?.[1];
      if (found === undefined) return [];
      const sums = some(sum.exec(block)?.[1]);
      return [{ name: found, version: version.exec(block)?.[1] ?? "", sums }];
    });

/** Versions and hashes stand in two lists. */
const podLock: Read = (content) => {
  const versions = new Map(
    [...content.matchAll(/^ {2}- "?([\w.+/-]+) \(([^)\n]+)\)/gm)].map(([, name, version]) => [
      name!,
      version!,
    ]),
  );
  const sums = /^SPEC CHECKSUMS:\s*$([^]*?)(?=^\S|(?![^]))/m.exec(content)?.[1] ?? "";
  return [...sums.matchAll(/^ {2}"?([\w.+/-]+)"?: (\S+)/gm)].map(([, name, sum]) => ({
    name: name!,
    version: versions.get(name!) ?? "",
    sums: [sum!],
  }));
};

const requirements: Read = (content) =>
  content
    .replaceAll(/\\\r?\n/g, " ")
    .split("\n")
    .flatMap((line) => {
      const [, name, version] =
        /^\s*([A-Za-z0-9][\w.-]{0,200})[^#=]{0,200}===?\s*([^\s;#]+)/.exec(line.slice(0, 10_000)) ?? [];
      if (name === undefined || version === undefined) return [];
      const sums = [...line.matchAll(/--hash[= ]\s*(\S+)/g)].map(([, sum]) => sum!);
      return [{ name: name.replaceAll(/[-_.]+/g, "-").toLowerCase(), version, sums }];
    });

const formats: readonly { readonly name: RegExp; readonly read: Read }[] = [
  { name: /^go\.(?:work\.)?sum$/, read: goSum },
  { name: /^(?:package-lock|npm-shrinkwrap|\.package-lock)\.json$/, read: npmLock },
  { name: /^yarn\.lock$/, read: yarnLock },
  { name: /^pnpm-lock\.yaml$/, read: pnpmLock },
  {
    name: /^bun\.lock$/,
    read: lines(/^\s{4}"(?<name>[^"]+)":\s*\["(?<version>[^"]+)"(?:.*"(?<sums>sha\d+-[^"]+)")?/),
  },
  { name: /^(?:cargo\.lock|poetry\.lock|uv\.lock|pdm\.lock|pylock.*\.toml)$/, read: tomlLock },
  { name: /^pipfile\.lock$/, read: jsonTables("default", "develop") },
  { name: /^packages\.lock\.json$/, read: jsonTables("dependencies.*") },
  { name: /^deno\.lock$/, read: jsonTables("npm", "jsr", "remote", "packages.npm", "packages.jsr") },
  { name: /^composer\.lock$/, read: composerLock },
  { name: /^package\.resolved$/, read: swiftPins },
  {
    name: /^(?:gemfile\.lock|gems\.locked)$/,
    read: lines(/^ {2}(?! )(?<name>[\w.-]+) \((?<version>[^)]+)\)(?<sums>.*)/),
  },
  {
    name: /^mix\.lock$/,
    read: lines(/^\s*"(?<name>[^"]+)":\s*\{:hex,\s*:\w+,\s*"(?<version>[^"]+)",\s*(?<sums>"\w+".*)/),
  },
  {
    name: /^pubspec\.lock$/,
    read: blocks(/\n(?= {2}\w)/, /^ {2}(\w+):/, /^ {4}version: "?([^"\s]+)/m, /\bsha256: "?(\w+)/),
  },
  { name: /^podfile\.lock$/, read: podLock },
  {
    name: /^pixi\.lock$/,
    read: blocks(/\n(?=- )/, /^- (?:conda|pypi):\s*(\S+)/, /^$/, /\bsha256:\s*(\w+)/),
  },
  { name: requirementsFile, read: requirements },
];

/** How the packages of a lock file of this name are read; undefined for files that lock no content. */
export const lockedReader = (path: string): Read | undefined => {
  const name = packageListName(path);
  return formats.find((one) => one.name.test(name))?.read;
};
