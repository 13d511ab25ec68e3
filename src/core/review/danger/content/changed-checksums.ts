import { asObject, lineOf, parseObject } from "../json-text.ts";
import { foldedName } from "../fold-path.ts";
import { quoted } from "../sentence.ts";
import { type ContentRule, lineDangers, maxPerFile } from "./content-rule.ts";
import { type Locked, lockedReader } from "./locked-contents.ts";

export const hasChecksums = (path: string): boolean => lockedReader(path) !== undefined;

interface Before {
  /** Of a package in one version. */
  readonly sums: ReadonlyMap<string, ReadonlySet<string>>;
  /** Packages whose content was checked in any version. */
  readonly checked: ReadonlySet<string>;
  /** Those that nothing was checked of: packages of the project itself, for one. */
  readonly unchecked: ReadonlySet<string>;
}

const idOf = ({ name, version }: Locked): string => `${name} ${version}`.trim();

function beforeOf(entries: readonly Locked[]): Before {
  const sums = new Map<string, Set<string>>();
  const checked = new Set<string>();
  const unchecked = new Set<string>();
  for (const entry of entries) {
    if (entry.sums.length === 0) {
      unchecked.add(idOf(entry));
      continue;
    }
    checked.add(entry.name);
    const known = sums.get(idOf(entry));
    if (known) for (const sum of entry.sums) known.add(sum);
    else sums.set(idOf(entry), new Set(entry.sums));
  }
  return { sums, checked, unchecked };
}

interface Found {
  readonly needle: string;
  readonly why: string;
}

/**
 * The same version of a package with other content: what a registry never does, and an attacker must. And a package whose
 * content was checked and is not any more, in whatever version: a link, a directory, or an entry without its hash.
 */
function otherContents(now: readonly Locked[], before: Before): Found[] {
  // An entry without a hash says nothing where another one of the same package has one.
  const stillChecked = new Set(now.filter(({ sums }) => sums.length > 0).map(idOf));
  return now.flatMap((entry): Found[] => {
    const { name, sums } = entry;
    const known = before.sums.get(idOf(entry));
    const other = known && sums.find((sum) => !known.has(sum));
    if (other !== undefined)
      return [
        {
          needle: other,
          why: `Other content for the same version, ${quoted(idOf(entry))}: what is installed is not what it was.`,
        },
      ];
    const wasChecked = before.checked.has(name) && !before.unchecked.has(idOf(entry));
    if (sums.length > 0 || !wasChecked || stillChecked.has(idOf(entry))) return [];
    return [
      {
        needle: name,
        why: `The content of ${quoted(name)} is no longer checked: anything can be installed for it.`,
      },
    ];
  });
}

/** Packages of npm that run a program when they are installed, and did not before. */
function newInstallScripts(text: string, old: string | undefined): Found[] {
  const withScripts = (content: string | undefined): string[] =>
    Object.entries(asObject(parseObject(content)?.["packages"]) ?? {})
      .filter(([, entry]) => asObject(entry)?.["hasInstallScript"] === true)
      .map(([path]) => path);
  const before = new Set(withScripts(old));
  return withScripts(text)
    .filter((path) => !before.has(path))
    .map((path) => ({
      needle: JSON.stringify(path),
      why: `${quoted(path)} has an install script now: npm runs it at the next install.`,
    }));
}

export const changedChecksums: ContentRule = {
  isByName: true,
  mayFind: hasChecksums,
  find(path, old, text) {
    const read = lockedReader(path)!;
    const report = (kind: "lockfile_source" | "package_script", found: readonly Found[], noun: string) =>
      lineDangers({
        kind,
        path,
        noun,
        // The rest is counted, and a search for each would be a pass over the text for each.
        found: found.map(({ needle, why }, at) => ({
          line: (at < maxPerFile ? lineOf(text, needle) : undefined) ?? 1,
          why,
        })),
      });
    const isNpm = /^(?:package-lock|npm-shrinkwrap)\.json$/.test(foldedName(path));
    return [
      ...report("lockfile_source", otherContents(read(text), beforeOf(read(old ?? ""))), "such package"),
      ...(isNpm ? report("package_script", newInstallScripts(text, old), "such package") : []),
    ];
  },
};
