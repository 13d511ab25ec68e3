/**
 * Lands work in a person's repository. Guarantees:
 * - All of it or nothing: with a conflict, or uncommitted work in the way, nothing is changed.
 * - Uncommitted work of the person is never lost, and is as it was afterwards.
 * - Nothing the box made is executed: hooks, filters, drivers and config are off, whatever the work brings along.
 * - `undo` restores exactly what was there, or refuses and says what has changed since.
 */
import type { HistoryCommit, ObjectSource } from "./review.ts";
import type { MergeConflict, MergeMode, MergeRecord } from "../contract/review/merge.ts";

export interface MergeRequest {
  readonly projectDir: string;
  /** The review repository the objects come from. */
  readonly reviewGitDir: string;
  readonly base: string;
  /** The checkpoint that is to land. */
  readonly commit: string;
  /** The agent's own newest commit, for `commits`. */
  readonly head: string;
  readonly mode: MergeMode;
  /** First line and body; trailers are added. */
  readonly message: string;
  readonly trailers: readonly string[];
  /** `Name <email>` of the agent's work, kept as the author. */
  readonly author?: string | undefined;
  /** The commit that the work was judged against; when the branch is elsewhere, nothing lands. */
  readonly judged?: { readonly head: string | undefined } | undefined;
}

export type MergeOutcome =
  | {
      readonly outcome: "merged";
      readonly record: Pick<MergeRecord, "branch" | "before" | "after" | "files" | "mode">;
      /**
       * Paths that a filter of the person's would have changed on the way to the disk: no filter runs, so an LFS
       * pointer stays a pointer until `git lfs pull`. Absent without such paths.
       */
      readonly unfiltered?: readonly string[];
    }
  | { readonly outcome: "conflict"; readonly conflicts: readonly MergeConflict[] }
  /** The person's own uncommitted changes are in the way. */
  | { readonly outcome: "dirty"; readonly paths: readonly string[] }
  | { readonly outcome: "nothing" };

/** Commits in a git directory of ours, for as long as it is open. */
export interface PreparedWork extends AsyncDisposable {
  readonly outcome: "prepared";
  readonly gitDir: string;
  readonly commit: string;
  readonly files: number;
}

/** Where work would land. */
export interface MergeTip {
  /** `Name <email>` of the person. */
  readonly identity: string;
  /** The commit, and its tree; absent before the first one. */
  readonly head?: string;
  readonly tree?: string;
  /** Name of the branch that HEAD is on, such as `main`. */
  readonly branch?: string;
  /** Name of the default branch of `origin`, as the last clone or fetch has noted it. */
  readonly remoteBranch?: string;
}

/** The result that a merge would have, for as long as it is open. */
export interface MergePreview extends AsyncDisposable {
  readonly source: ObjectSource;
  /** Trees of the branch, now and then. */
  readonly before: string;
  readonly after: string;
  /** In the order in which they follow on each other. */
  readonly commits: readonly HistoryCommit[];
}

export interface ExportOptions {
  /** The branch a bundle has, without `refs/heads/`; "agentbox/work" by default. */
  readonly branch?: string;
  /** Replaces a file that is there already. */
  readonly overwrite?: boolean;
}

export interface Merges {
  /** Says what `apply` would do, and changes nothing. */
  plan(request: MergeRequest): Promise<MergeOutcome>;
  apply(request: MergeRequest): Promise<MergeOutcome>;
  /** Undefined where there is no repository; with `onto` another commit takes the place of HEAD. */
  tip(projectDir: string, onto?: string): Promise<MergeTip | undefined>;
  /** Changes nothing. Undefined when it would conflict, or bring nothing. */
  preview(request: MergeRequest, onto?: string): Promise<MergePreview | undefined>;
  /**
   * The commits that a merge onto `onto` would make (by default, the project's own HEAD). Branches, index, files and
   * objects of the project stay as they are, also in the middle of a merge or a rebase.
   */
  prepare(
    request: MergeRequest,
    onto?: string,
  ): Promise<PreparedWork | Extract<MergeOutcome, { outcome: "conflict" | "nothing" }>>;
  /**
   * The same commits as a branch of the project that nobody has checked out: its files, its index and HEAD stay as they are.
   * Refused when the branch is there and is not at `onto`.
   */
  keepBranch(request: MergeRequest, onto: string | undefined, branch: string): Promise<MergeOutcome>;
  /** Fails with merge.cannot_undo when what it would take back is no longer as it was. */
  undo(record: MergeRecord): Promise<void>;
  /** A patch or a bundle of the work, written to a file of the person's: whole or not at all, and never through a link. */
  export(
    request: Pick<MergeRequest, "reviewGitDir" | "base" | "commit" | "head">,
    format: "patch" | "bundle",
    file: string,
    options?: ExportOptions,
  ): Promise<void>;
}
