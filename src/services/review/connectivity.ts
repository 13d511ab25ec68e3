/**
 * That a bundle holds everything it refers to, except what the box was known to have.
 *
 * SECURITY: objects of the project are visible from the review repository. A box that has guessed the id of one it
 * was never given (a stash, another branch) could refer to it, and get it with the next box made from its work.
 */
import { badBundle } from "./bundle-header.ts";
import { splitBytes } from "./byte-lines.ts";
import type { PackIndex } from "./pack-index.ts";
import type { ReviewGit } from "./review-git.ts";

export interface Sent {
  readonly snapshot: string;
  readonly index: PackIndex;
  readonly have: readonly string[];
}

const maxUnsent = 100_000;

export async function requireSent(git: ReviewGit, { snapshot, index, have }: Sent): Promise<void> {
  const unsent = new Set<string>();
  for await (const id of reachable(git, [snapshot], have)) {
    if (index.hasSent(id)) continue;
    unsent.add(id);
    if (unsent.size > maxUnsent) throw badBundle("it refers to more than it holds");
  }
  // A box whose repository has bitmaps leaves out objects that its older history holds already. Rare, and slow to look
  // up.
  if (unsent.size > 0 && have.length > 0) {
    for await (const id of reachable(git, have, [])) {
      if (unsent.delete(id) && unsent.size === 0) break;
    }
  }
  const [missing] = unsent;
  if (missing !== undefined) throw badBundle(`it refers to the object ${missing}, which it does not hold`);
}

async function* reachable(
  git: ReviewGit,
  from: readonly string[],
  except: readonly string[],
): AsyncGenerator<string, void> {
  const stdin = [...from, ...except.map((id) => `^${id}`), ""].join("\n");
  // Objects of any of the exceptions are left out, not only those of the commits that these descend from.
  const args = ["rev-list", "--objects-edge-aggressive", "--no-object-names", "--stdin"];
  for await (const line of splitBytes(git.stream(args, { stdin }), "\n")) {
    const id = line.toString("latin1");
    // A commit at the edge is named with a sign.
    if (!id.startsWith("-")) yield id;
  }
}
