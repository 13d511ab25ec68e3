/** Explains why a box's user cannot get to a path: names the directory that stands in the way. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { BoxOwner } from "../../../contract/box.ts";

export async function findBarrier(path: string, { uid, gid }: BoxOwner): Promise<string | undefined> {
  const above: string[] = [];
  for (let at = dirname(path); ; at = dirname(at)) {
    above.unshift(at);
    if (at === "/") break;
  }
  for (const directory of above) {
    const found = await stat(directory).catch(() => undefined);
    if (found === undefined) return directory;
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return directory;
  }
  return undefined;
}
