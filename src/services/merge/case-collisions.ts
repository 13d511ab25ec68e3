/**
 * SECURITY: on a disk that knows no case, `A` as a link and `a/hook` are one path, and writing the second goes
 * through the first. Pure: says which new paths would meet another one.
 */
import { parentsOf } from "./changed-paths.ts";

export function caseCollisions(all: readonly string[], added: readonly string[]): readonly string[] {
  const spelling = new Map<string, Set<string>>();
  const note = (path: string) => {
    const key = fold(path);
    spelling.set(key, (spelling.get(key) ?? new Set()).add(path));
  };
  for (const path of all) for (const part of [...parentsOf(path), path]) note(part);
  return added.filter((path) =>
    [...parentsOf(path), path].some((part) => spelling.get(fold(part))!.size > 1),
  );
}

const fold = (path: string): string =>
  Buffer.from(path, "latin1").toString("utf8").normalize("NFC").toLowerCase();
