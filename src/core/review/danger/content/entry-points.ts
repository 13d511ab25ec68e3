import { parse } from "smol-toml";
import { omitUndefined } from "../../../../base/omit-undefined.ts";
import type { Danger } from "../../../../contract/review/danger.ts";
import { foldedName } from "../fold-path.ts";
import { asObject, lineOf, parseObject } from "../json-text.ts";
import { quoted } from "../sentence.ts";
import type { ContentRule } from "./content-rule.ts";

interface Field {
  readonly keys: readonly string[];
  readonly effect: string;
}

interface Format {
  readonly parse: (text: string) => Record<string, unknown> | undefined;
  readonly fields: readonly Field[];
  /** Fields that say nothing to a tool; undefined where the file is always looked at by its name. */
  readonly inert?: ReadonlySet<string>;
}

const entry = "programs that use this package load or run other code than before";

/** Fields of package.json that only describe, or that other rules read. */
const describing = new Set(
  [
    "name version description keywords homepage bugs license licenses author contributors maintainers repository funding",
    "private files sideEffects engines os cpu libc preferGlobal readme readmeFilename collective donate types typings $schema",
    "scripts dependencies devDependencies peerDependencies optionalDependencies peerDependenciesMeta bundledDependencies",
    "bundleDependencies overrides resolutions bin gypfile packageManager simple-git-hooks husky lint-staged pre-commit gitHooks",
    "trustedDependencies pnpm allowScripts workspaces main module browser exports imports directories type man displayName",
  ].flatMap((names) => names.split(" ")),
);

function readToml(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(parse(text, { maxDepth: 32 }));
  } catch {
    return undefined;
  }
}

const formats: Readonly<Record<string, Format>> = {
  "package.json": {
    parse: parseObject,
    fields: ["main", "module", "browser", "exports", "imports", "directories", "type"].map((key) => ({
      keys: [key],
      effect: entry,
    })),
    inert: describing,
  },
  "composer.json": {
    parse: parseObject,
    fields: [
      { keys: ["autoload"], effect: entry },
      { keys: ["autoload-dev"], effect: entry },
      { keys: ["bin"], effect: "its files become commands where the package is installed" },
      { keys: ["config", "allow-plugins"], effect: "these plugins run inside Composer" },
    ],
  },
  "pyproject.toml": {
    parse: readToml,
    fields: [
      { keys: ["project", "scripts"], effect: "they become commands where the package is installed" },
      { keys: ["project", "gui-scripts"], effect: "they become commands where the package is installed" },
      {
        keys: ["project", "entry-points"],
        effect: "programs that take plug-ins load this code by themselves",
      },
      { keys: ["tool", "poetry", "scripts"], effect: "they become commands where the package is installed" },
      {
        keys: ["tool", "poetry", "plugins"],
        effect: "programs that take plug-ins load this code by themselves",
      },
      { keys: ["build-system"], effect: "pip runs this at the next install or build" },
    ],
  },
  "cargo.toml": {
    parse: readToml,
    fields: [
      {
        keys: ["package", "build"],
        effect: "Cargo compiles and runs this file at the next build, and editors do",
      },
      { keys: ["package", "links"], effect: "the build script of the package speaks for a native library" },
      {
        keys: ["lib", "proc-macro"],
        effect: "the compiler runs the crate at every build of what uses it, and editors do",
      },
      { keys: ["lib", "path"], effect: entry },
      { keys: ["bin"], effect: "it becomes a program" },
      { keys: ["package", "default-run"], effect: "cargo run starts this program" },
      {
        keys: ["workspace", "members"],
        effect: "build scripts and macros of these directories run at the next build",
      },
    ],
  },
};

const at = (value: unknown, keys: readonly string[]): unknown =>
  keys.reduce((inner, key) => {
    const table = asObject(inner);
    return table && Object.hasOwn(table, key) ? table[key] : undefined;
  }, value);

/** Written the same; what is nested too deep to be written counts as changed. */
function isSame(a: unknown, b: unknown): boolean {
  try {
    return JSON.stringify(a) === JSON.stringify(b);
  } catch {
    return false;
  }
}

const formatOf = (path: string): Format | undefined => {
  const name = foldedName(path);
  return Object.hasOwn(formats, name) ? formats[name] : undefined;
};

/** Where others enter a package, and fields of its description that some tool may obey. */
export const entryPoints: ContentRule = {
  isByName: true,
  mayFind: (path) => formatOf(path) !== undefined,
  find(path, old, text) {
    const format = formatOf(path);
    const now = format?.parse(text);
    // Unreadable files are reported by the rules for scripts and packages.
    if (!format || !now) return [];
    const before = (old === undefined ? undefined : format.parse(old)) ?? {};
    const dangers: Danger[] = [];
    const add = (kind: Danger["kind"], why: string, key: string) => {
      const line = lineOf(text, `"${key}"`) ?? lineOf(text, key);
      dangers.push({ kind, path, ...omitUndefined({ line }), why });
    };
    for (const { keys, effect } of format.fields) {
      const value = at(now, keys);
      if (value === undefined || isSame(value, at(before, keys))) continue;
      add("package_script", `New or changed "${keys.join(".")}": ${effect}.`, keys.at(-1)!);
    }
    for (const key of Object.keys(now)) {
      if (format.inert === undefined || format.inert.has(key) || isSame(now[key], at(before, [key])))
        continue;
      add(
        "unfamiliar",
        `New or changed field ${quoted(key)}: tools keep settings in this file, and may run what it names.`,
        key,
      );
      if (dangers.length > 20) break;
    }
    return dangers;
  },
};
