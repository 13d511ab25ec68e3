/** Which paths a filter of the person's would have changed on their way to the disk. It asks; it runs none. */
import { join } from "node:path";
import { type ChangedPath, isThere } from "./changed-paths.ts";
import { asText } from "./failure.ts";
import type { MergeRoom } from "./room.ts";
import type { MergeTarget } from "./target.ts";

export async function findUnfiltered(
  room: MergeRoom,
  { repository: { top }, settings: { filters } }: MergeTarget,
  tree: string,
  changes: readonly ChangedPath[],
): Promise<readonly string[]> {
  if (top === undefined || filters.size === 0) return [];
  const env = { GIT_INDEX_FILE: join(room.gitDir, "index-attributes"), GIT_WORK_TREE: top };
  await room.ok(["read-tree", tree], { env });
  const paths = changes.filter(({ newMode }) => isThere(newMode)).map(({ path }) => `${path}\0`);
  const args = ["check-attr", "--cached", "-z", "--stdin", "filter"];
  const fields = (await room.ok(args, { env, cwd: top, stdin: Buffer.from(paths.join(""), "latin1") })).split(
    "\0",
  );
  const found: string[] = [];
  for (let i = 0; i + 2 < fields.length; i += 3)
    if (filters.has(fields[i + 2]!)) found.push(asText(fields[i]!));
  return found;
}
