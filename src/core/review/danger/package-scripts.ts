import { omitUndefined } from "../../../base/omit-undefined.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import { foldedName } from "./fold-path.ts";
import { asObject, lineOf, parseObject } from "./json-text.ts";
import { quoted } from "./sentence.ts";

/** Scripts that run without anyone naming them. */
const lifecycle: Readonly<Record<string, string>> = {
  preinstall: "npm runs it at the next install, before anything else",
  install: "npm runs it at the next install",
  postinstall: "npm runs it at the next install",
  prepare: "npm runs it at the next install in this directory, and before publishing",
  preprepare: "npm runs it at the next install in this directory",
  postprepare: "npm runs it at the next install in this directory",
  dependencies: "npm runs it whenever the installed packages change",
  prepublish: "npm runs it at the next install or publish",
  prepublishonly: "npm runs it at the next publish",
  prepack: "npm runs it when the package is packed or published",
  postpack: "npm runs it when the package is packed or published",
  preversion: "npm runs it when the version is raised",
  version: "npm runs it when the version is raised",
  postversion: "npm runs it when the version is raised",
  "pre-install-cmd": "Composer runs it at the next install",
  "post-install-cmd": "Composer runs it at the next install",
  "pre-update-cmd": "Composer runs it at the next update",
  "post-update-cmd": "Composer runs it at the next update",
  "post-autoload-dump": "Composer runs it at the next install",
};

/** Where commands stand in a file of this name, and who runs one that has no moment of its own. */
const tables: Readonly<Record<string, { readonly key: string; readonly effect: string }>> = {
  "package.json": { key: "scripts", effect: "it runs when someone or another script runs it by name" },
  "composer.json": { key: "scripts", effect: "Composer runs it by name or at the event it is named after" },
  "deno.json": { key: "tasks", effect: "Deno runs it by name" },
};

/** Fields of package.json that name a program, other than scripts. */
const fields: Readonly<Record<string, string>> = {
  bin: "its files become commands where the package is installed",
  gypfile: "npm compiles native code at the next install",
  packageManager: "Corepack downloads and runs this package manager at the next command",
  "simple-git-hooks": "its commands become Git hooks",
  husky: "its commands run as Git hooks",
  "lint-staged": "its commands run at the next commit",
  "pre-commit": "its scripts run at the next commit",
  gitHooks: "its commands run as Git hooks",
  trustedDependencies: "install scripts of these packages are allowed to run",
  pnpm: "pnpm takes from it whose install scripts may run and which packages are replaced",
  allowScripts: "install scripts of these packages are allowed to run",
  workspaces: "install scripts of these directories run at the next install",
};

export const hasScripts = (path: string): boolean => Object.hasOwn(tables, foldedName(path));

/** Commands in a package's description that were not there before, each by name. */
export function packageScripts(path: string, oldText: string | undefined, newText: string): Danger[] {
  const name = foldedName(path);
  const table = own(tables, name);
  if (!table) return [];
  const danger = (why: string, line?: number): Danger => ({
    kind: "package_script",
    path,
    ...omitUndefined({ line }),
    why,
  });
  const now = parseObject(newText);
  if (!now) return [danger("It is not JSON that can be read: which scripts it adds is unknown.")];
  const before = parseObject(oldText) ?? {};
  const found: Danger[] = [];
  const oldScripts = asObject(before[table.key]) ?? {};
  for (const [script, command] of Object.entries(asObject(now[table.key]) ?? {})) {
    if (isSame(own(oldScripts, script), command)) continue;
    const effect = own(lifecycle, script.toLowerCase()) ?? table.effect;
    const word = Object.hasOwn(oldScripts, script) ? "Changed" : "New";
    const line =
      lineOf(newText, `${JSON.stringify(script)}:`, `"${table.key}"`) ??
      lineOf(newText, JSON.stringify(script));
    found.push(danger(`${word} script ${quoted(script)}: ${effect}.`, line));
  }
  if (name !== "package.json") return found;
  for (const [field, effect] of Object.entries(fields)) {
    const value = own(now, field);
    if (value === undefined || isSame(own(before, field), value)) continue;
    found.push(danger(`New or changed "${field}": ${effect}.`, lineOf(newText, `"${field}"`)));
  }
  return found;
}

/** The box chooses the keys, `constructor` among them. */
const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

function isSame(a: unknown, b: unknown): boolean {
  try {
    return JSON.stringify(a) === JSON.stringify(b);
  } catch {
    // Nested so deep that it cannot be written: that is no accident.
    return false;
  }
}
