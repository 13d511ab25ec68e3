/**
 * Review repositories: made with the box, in one step, and opened on demand. See ports/review.ts for their guarantees.
 */
import { randomBytes } from "node:crypto";
import { rename, copyFile, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { KeyedMutex } from "../../base/mutex.ts";
import { pathKind, readSmallFile, removeTree } from "../../host/files.ts";
import type { ReviewRepository, Reviews } from "../../ports/review.ts";
import { commitBase, requireCommit } from "./base-commit.ts";
import { defaultLimits, type ReviewLimits } from "./limits.ts";
import { makeRepository, alternatesLine } from "./make-repository.ts";
import { ReviewGit, requireId } from "./review-git.ts";
import { BareReview } from "./review-repository.ts";
import { tmpdir } from "node:os";

/** A repository of nothing but borrowed objects, in which the work of two boxes can be compared. */
async function makeBetween(
  dir: string,
  other: string,
): Promise<{ readonly gitDir: string } & AsyncDisposable> {
  const root = await mkdtemp(join(tmpdir(), "agentbox-review-"));
  const gitDir = join(root, "between.git");
  for (const part of ["objects/info", "objects/pack", "refs"])
    await mkdir(join(gitDir, part), { recursive: true });
  // Ours, and of the same object format; two of different formats have nothing in common to be found.
  await copyFile(join(dir, "config"), join(gitDir, "config"));
  await writeFile(join(gitDir, "HEAD"), "ref: refs/heads/none\n");
  const lines = [dir, other].map((lender) => alternatesLine(join(lender, "objects")));
  await writeFile(join(gitDir, "objects/info/alternates"), lines.join(""));
  return { gitDir, [Symbol.asyncDispose]: () => removeTree(root) };
}

const baseRef = "refs/agentbox/base";

export function openReviews(options: { readonly limits?: Partial<ReviewLimits> } = {}): Reviews {
  const limits = { ...defaultLimits, ...options.limits };
  const taking = new KeyedMutex();
  const reviewIn = (dir: string, base: string): ReviewRepository =>
    new BareReview(new ReviewGit(dir, limits), base, taking);
  return {
    create: async (request) => reviewIn(request.dir, await create(request, limits)),
    between: async (dir, other) => {
      const base = await readSmallFile(join(dir, baseRef), 100);
      const joined = await makeBetween(dir, other);
      const review = new BareReview(
        new ReviewGit(joined.gitDir, limits),
        requireId(base?.trim() ?? ""),
        taking,
      );
      return Object.assign(review, { [Symbol.asyncDispose]: () => joined[Symbol.asyncDispose]() });
    },
    reading: ({ gitDir, user }) => new BareReview(new ReviewGit(gitDir, limits, { user }), "", taking),
    open: async (dir) => {
      const base = await readSmallFile(join(dir, baseRef), 100);
      return base === undefined ? undefined : reviewIn(dir, requireId(base.trim()));
    },
  };
}

/** Returns the base. */
async function create(
  { dir, borrow, baseCommit, files }: Parameters<Reviews["create"]>[0],
  limits: ReviewLimits,
): Promise<string> {
  if (await pathKind(dir)) throw new AgentBoxError("review.failed", `There is a review in ${dir} already.`);
  // Beside it and then renamed: what a crash leaves is never taken for a repository.
  const making = `${dir}.${randomBytes(6).toString("hex")}`;
  try {
    const git = new ReviewGit(making, limits);
    await makeRepository(making, borrow);
    const base =
      baseCommit === undefined
        ? await commitBase(git, files)
        : await requireCommit(git, requireId(baseCommit));
    await git.text(["update-ref", baseRef, base]);
    await rename(making, dir);
    return base;
  } catch (error) {
    await removeTree(making);
    throw error;
  }
}
