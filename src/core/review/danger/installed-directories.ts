/**
 * Directories that a tool has filled: an environment of Python, `node_modules`, what a build made. Their thousands of files
 * are one question to a person: ignore the directory, or look at it as a whole. SECURITY: every file in them is judged all
 * the same. What takes effect without anybody running the directory, and what is a secret, stays on the list by itself.
 */
import type { Change } from "../../../contract/review/change.ts";
import type { Danger, DangerKind } from "../../../contract/review/danger.ts";
import { counted } from "./sentence.ts";

/** A name that such a directory has, and the file by which its tool knows it. SECURITY: neither is enough by itself. */
const marks: readonly { readonly names: readonly string[]; readonly files: readonly string[] }[] = [
  { names: [".venv", "venv", ".virtualenv", "virtualenv"], files: ["pyvenv.cfg"] },
  { names: ["node_modules"], files: [".package-lock.json", ".modules.yaml", ".yarn-integrity"] },
  { names: ["target", ".pytest_cache", ".ruff_cache", ".mypy_cache"], files: ["CACHEDIR.TAG"] },
];

/** They take effect only when something in the directory is run, read or built. */
const folded: ReadonlySet<DangerKind> = new Set<DangerKind>([
  "package_script",
  "lockfile_source",
  "dependency",
  "build_file",
  "container_file",
  "executable",
  "symlink",
  "hidden_text",
  "code_directive",
  "unreadable",
  "unfamiliar",
  "large_binary",
]);

export class InstalledDirectories {
  /** Each with the number of its files. */
  readonly #directories: ReadonlyMap<string, number>;

  private constructor(directories: ReadonlyMap<string, number>) {
    this.#directories = directories;
  }

  /** `paths`: every path there is after the changes. */
  static async find(
    changes: readonly Change[],
    paths: () => AsyncIterable<string>,
  ): Promise<InstalledDirectories> {
    const marked = new Set(changes.flatMap(({ path }) => directoryMarkedBy(path) ?? []));
    if (marked.size === 0) return new InstalledDirectories(new Map());
    const counts = new Map<string, number>();
    const fresh = new Set<string>();
    // SECURITY: one that was there before is the project's own, whatever its name: all of it must be new.
    const known = new Set<string>();
    for (const { path, oldPath, kind } of changes) {
      const within = outermost(path, marked);
      const isNew = kind === "added" || kind === "copied";
      if (isNew) fresh.add(path);
      if (isNew && within !== undefined) counts.set(within, (counts.get(within) ?? 0) + 1);
      if (!isNew && within !== undefined) known.add(within);
      const from = isNew || oldPath === undefined ? undefined : outermost(oldPath, marked);
      if (from !== undefined) known.add(from);
    }
    for await (const path of paths()) {
      const within = outermost(path, marked);
      if (within !== undefined && !fresh.has(path)) known.add(within);
    }
    for (const directory of known) counts.delete(directory);
    return new InstalledDirectories(counts);
  }

  of = (path: string): string | undefined =>
    this.#directories.size === 0 ? undefined : outermost(path, this.#directories);

  /** Whether a danger of this kind, under this name, is a part of what is asked about as a whole. */
  folds = (kind: DangerKind, path: string): boolean => folded.has(kind) && this.of(path) !== undefined;

  /** One danger in place of all that lie in such a directory and take effect only with it. */
  fold(found: readonly Danger[]): readonly Danger[] {
    if (this.#directories.size === 0) return found;
    // Each is asked about, also one in which no single file is dangerous by itself.
    const kinds = new Map([...this.#directories.keys()].map((path) => [path, new Map<DangerKind, number>()]));
    const rest = found.filter(({ kind, path }) => {
      const directory = folded.has(kind) ? this.of(path) : undefined;
      if (directory === undefined) return true;
      const counts = kinds.get(directory)!;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return false;
    });
    const asked = [...kinds].map(([path, counts]): Danger => {
      const what = [...counts].map(([kind, count]) => `${count} × ${kind}`).join(", ");
      const files = counted(this.#directories.get(path) ?? 0, "file");
      return {
        kind: "installed",
        path,
        why: `${files} that a tool installed or built: ignore the directory, or look at all of it${what === "" ? "" : ` (${what})`}.`,
      };
    });
    return [...rest, ...asked];
  }
}

function directoryMarkedBy(path: string): string | undefined {
  const parts = path.split("/");
  const file = parts.pop();
  const name = parts.at(-1);
  const isMark = marks.some(({ names, files }) => names.includes(name ?? "") && files.includes(file ?? ""));
  return isMark ? parts.join("/") : undefined;
}

function outermost(path: string, directories: { has(directory: string): boolean }): string | undefined {
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1))
    if (directories.has(path.slice(0, at))) return path.slice(0, at);
  return undefined;
}
