import { foldedName } from "../fold-path.ts";
import { asObject, lineOf, parseObject } from "../json-text.ts";
import { quoted } from "../sentence.ts";
import { type ContentRule, lineDangers, maxPerFile } from "./content-rule.ts";

/** Package and version → what its content must hash to. */
type Sums = ReadonlyMap<string, string>;

const goSum = (text: string): Sums =>
  new Map(
    text.split("\n").flatMap((line): [string, string][] => {
      const [module, version, sum] = line.trim().split(/\s+/);
      return module !== undefined && version !== undefined && sum !== undefined
        ? [[`${module} ${version}`, sum]]
        : [];
    }),
  );

const npmLock = (text: string): Sums => {
  const sums = new Map<string, string>();
  for (const [path, value] of Object.entries(asObject(parseObject(text)?.["packages"]) ?? {})) {
    const { version, integrity } = asObject(value) ?? {};
    if (typeof version === "string" && typeof integrity === "string")
      sums.set(`${path} ${version}`, integrity);
  }
  return sums;
};

const cargoLock = (text: string): Sums =>
  new Map(
    text.split("[[package]]").flatMap((block): [string, string][] => {
      const field = (key: string) => new RegExp(`^${key} = "([^"]+)"`, "m").exec(block)?.[1];
      const [name, version, sum] = [field("name"), field("version"), field("checksum")];
      return name !== undefined && version !== undefined && sum !== undefined
        ? [[`${name} ${version}`, sum]]
        : [];
    }),
  );

const readers: Readonly<Record<string, (text: string) => Sums>> = {
  "go.sum": goSum,
  "go.work.sum": goSum,
  "package-lock.json": npmLock,
  "npm-shrinkwrap.json": npmLock,
  "cargo.lock": cargoLock,
};

export const hasChecksums = (path: string): boolean => Object.hasOwn(readers, foldedName(path));

/** The same version of a package with other content: what a registry never does, and an attacker must. */
export const changedChecksums: ContentRule = {
  isByName: true,
  mayFind: hasChecksums,
  find(path, old, text) {
    const read = readers[foldedName(path)]!;
    const before = read(old ?? "");
    const found = [...read(text)]
      .filter(([id, sum]) => (before.get(id) ?? sum) !== sum)
      .map(([id, sum], at) => ({
        // The rest is counted, and a search for each would be a pass over the text for each.
        line: (at < maxPerFile ? lineOf(text, sum) : undefined) ?? 1,
        why: `Other content for the same version, ${quoted(id)}: what is installed is not what it was.`,
      }));
    return lineDangers({ kind: "lockfile_source", path, found, noun: "such package" });
  },
};
