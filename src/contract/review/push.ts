import { z } from "zod";

/** Forges whose way of opening a pull request is known. */
export const ForgeKind = z.enum(["github", "gitlab", "gitea"]);
export type ForgeKind = z.infer<typeof ForgeKind>;

/** A patch is no commit, and a branch has nothing but commits. */
export const PushMode = z.enum(["squash", "commits"]);
export type PushMode = z.infer<typeof PushMode>;

/** Work that was pushed: where the branch was left, so that the next push moves exactly that one. */
export const PushRecord = z.object({
  box: z.string(),
  incarnation: z.string(),
  projectDir: z.string(),
  /** Name of the remote in the project. */
  remote: z.string(),
  /** The repository's address, never with a credential in it. */
  repository: z.string(),
  host: z.string(),
  branch: z.string(),
  /** The branch it is meant for; absent where the remote has none yet. */
  base: z.string().optional(),
  mode: PushMode,
  /** Where the branch is now. */
  commit: z.string(),
  /** The checkpoint that was pushed. */
  checkpoint: z.string(),
  files: z.int(),
  atMs: z.int(),
  /** The pull request; absent when none was asked for, or the forge has no API that is known. */
  url: z.string().optional(),
  number: z.int().optional(),
  /** Where a person opens one by hand. */
  compareUrl: z.string().optional(),
});
export type PushRecord = z.infer<typeof PushRecord>;
