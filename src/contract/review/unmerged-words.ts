import type { UnmergedWork } from "./removed.ts";

/** `3 files, +10 -2, 1 commit`, for people. */
export function unmergedWords({ files, added, deleted, commits }: UnmergedWork): string {
  const parts = [`${files} ${files === 1 ? "file" : "files"}`, `+${added} -${deleted}`];
  if (commits > 0) parts.push(`${commits} ${commits === 1 ? "commit" : "commits"}`);
  return parts.join(", ");
}
