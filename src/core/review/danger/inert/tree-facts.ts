import type { Change } from "../../../../contract/review/change.ts";
import { foldPath } from "../fold-path.ts";
import { knownFile } from "./extensions.ts";
import { isManifest } from "./directories.ts";
import { replacesModule } from "./python-modules.ts";

/**
 * Facts about the project from its tree: its languages, by the files before the changes, and the directories that are
 * the top of a package. SECURITY: languages come from the old tree only. The box could otherwise make a language known
 * by using it.
 */
export class TreeFacts {
  readonly #fresh = new Set<string>();
  readonly #languages = new Set<string>();
  readonly #tops = new Set<string>([""]);
  /** Directories of Python's before the changes: those that are packages, and all that hold source. */
  readonly #packages = new Set<string>();
  readonly #withPython = new Set<string>();

  constructor(changes: readonly Change[]) {
    for (const { path, oldPath, kind } of changes) {
      if (kind === "added" || kind === "copied" || kind === "renamed") this.#fresh.add(path);
      else this.#note(path, true);
      if (kind === "renamed" && oldPath !== undefined) this.#note(oldPath, true);
      if (this.#fresh.has(path)) this.#note(path, false);
    }
  }

  /** One path of the tree after the changes. */
  see(path: string): void {
    if (!this.#fresh.has(path)) this.#note(path, true);
  }

  /** A project without any source has no language yet, and the first one it is begun in is its own. */
  hasLanguage = (language: string): boolean => this.#languages.size === 0 || this.#languages.has(language);

  /** Whether a directory, folded, is the root or has a manifest in it. */
  isTop = (directory: string): boolean => this.#tops.has(directory);

  /** Whether a new file, folded, is loaded in the place of a module that comes with Python. */
  isModuleReplaced(parts: readonly string[], name: string): boolean {
    return replacesModule(parts, name, this.#packages, this.#withPython);
  }

  #note(path: string, isOld: boolean): void {
    const slash = path.lastIndexOf("/");
    const name = path.slice(slash + 1).toLowerCase();
    if (isManifest(name)) this.#tops.add(slash === -1 ? "" : foldPath(path.slice(0, slash)));
    if (!isOld) return;
    const language = knownFile(name)?.language;
    if (language !== undefined) this.#languages.add(language);
    if (language === "python") this.#notePython(slash === -1 ? "" : foldPath(path.slice(0, slash)), name);
  }

  #notePython(directory: string, name: string): void {
    if (name === "__init__.py") this.#packages.add(directory);
    for (let at = directory; !this.#withPython.has(at); at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
      this.#withPython.add(at);
      if (at === "") break;
    }
  }
}
