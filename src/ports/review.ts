/**
 * The review repository of a box, on the host: the work that left the box, as objects in a bare repository of ours. Guarantees:
 * - Nothing that came from a box is executed: no hooks, no filters, no config, no attributes of the box's.
 * - A bundle is taken as a whole after it was checked (form, size, references, every object, every path), or not at all.
 * - The box cannot change what was taken.
 */
import type { Change, ChangeTotals, FileMode } from "../contract/review/change.ts";

/** A commit of the review repository, by its full id. */
export type ReviewCommit = string;

export interface BundleLimits {
  readonly maxBytes: number;
  readonly maxObjects: number;
  readonly maxBlobBytes: number;
}

export interface TakenBundle {
  readonly commit: ReviewCommit;
  readonly tree: string;
  readonly head: ReviewCommit;
  readonly bytes: number;
}

export interface ReviewEntry {
  readonly path: string;
  readonly mode: FileMode;
  readonly id: string;
}

/** What one directory of a commit holds under one name. */
export interface ReviewDirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "dir" | "symlink" | "other";
  readonly isExecutable: boolean;
  readonly id: string;
  /** Of a file, and of a link the length of its target. */
  readonly size: number;
}

/** A commit that would land, with what it follows: a commit or a tree. */
export interface HistoryCommit {
  readonly id: string;
  readonly from: string;
  /** `Name <email>`. */
  readonly author: string;
  readonly message: string;
  readonly encoding?: string | undefined;
}

/** Where objects are read, and with whose rights. */
export interface ObjectSource {
  readonly gitDir: string;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

export type ReviewReader = Pick<ReviewRepository, "changes" | "blob" | "paths" | "entries">;

/** A bundle on its way in; nothing of it counts before it was taken. */
export interface IncomingBundle {
  readonly file: string;
  /** Fails with review.too_large beyond the limit. */
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<void>;
  /** Removes it in any state. */
  discard(): Promise<void>;
}

export interface ReviewRepository {
  receive(maxBytes?: number): Promise<IncomingBundle>;
  /** The commits that the box need not send again: the base and all checkpoints. */
  have(): Promise<readonly ReviewCommit[]>;
  /**
   * Takes a bundle with exactly one reference, `refs/agentbox/snapshot`, checks it, and keeps it as
   * `refs/agentbox/checkpoints/<number>`. The agent's own newest commit (`head`) is the snapshot's first parent; without
   * a parent it is the snapshot itself. Throws review.bad_bundle, and review.too_large when it would take more than `maxBytes`.
   */
  take(bundleFile: string, number: number, maxBytes?: number): Promise<TakenBundle>;
  /** Renames found; at most `limit` changes, else review.too_large. */
  changes(from: ReviewCommit, to: ReviewCommit, limit?: number): Promise<readonly Change[]>;
  totals(from: ReviewCommit, to: ReviewCommit): Promise<ChangeTotals>;
  /** A patch that `git apply` takes; without colour, without external tools. */
  patch(
    from: ReviewCommit,
    to: ReviewCommit,
    options?: {
      readonly paths?: readonly string[];
      readonly contextLines?: number;
      readonly isBinary?: boolean;
    },
  ): AsyncIterable<Uint8Array>;
  /** The beginning of a file's content. */
  blob(id: string, maxBytes: number): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean }>;
  /** The content of a path in a commit; undefined without such a path. */
  fileAt(commit: ReviewCommit, path: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** What a directory of a commit holds, at most `limit` of it; undefined when there is no directory. The top is "". */
  directory(
    commit: ReviewCommit,
    path: string,
    limit: number,
  ): Promise<{ readonly entries: readonly ReviewDirectoryEntry[]; readonly total: number } | undefined>;
  /** One file, link or directory of a commit; undefined without such a path. */
  entry(commit: ReviewCommit, path: string): Promise<ReviewDirectoryEntry | undefined>;
  /** Every path of a commit; what is no text is shown as well as it can be. */
  paths(commit: ReviewCommit): AsyncIterable<string>;
  /** The same with what each of them is; of a link, the id of its target. */
  entries(commit: ReviewCommit): AsyncIterable<ReviewEntry>;
  /** Commits of the agent between base and head, the oldest first. */
  commits(
    base: ReviewCommit,
    head: ReviewCommit,
  ): Promise<readonly { id: string; author: string; subject: string }[]>;
  /** Those of them that would land one by one: a merge counts as what it brings to the line it was made on. */
  history(
    base: ReviewCommit,
    head: ReviewCommit,
  ): Promise<{ readonly commits: readonly HistoryCommit[]; readonly isCut: boolean }>;
  /** The tree of a commit. */
  treeOf(commit: ReviewCommit): Promise<string>;
  /** A bundle of one commit as `refs/agentbox/checkpoint`, without what the base holds unless it is to be whole. */
  bundle(commit: ReviewCommit, options?: { readonly isWhole?: boolean }): AsyncIterable<Uint8Array>;
  readonly gitDir: string;
  readonly base: ReviewCommit;
}

export interface Reviews {
  /**
   * Makes the repository when the box is made. With `borrow` (the project's directory), objects of its repository are used
   * where they are; without a base commit the base is an empty tree, or what `files` holds (a workspace that is no repository).
   */
  create(options: {
    readonly dir: string;
    readonly borrow?: string | undefined;
    readonly baseCommit?: string | undefined;
    readonly files?: string | undefined;
  }): Promise<ReviewRepository>;
  /** Both at once, to compare two boxes; only for reading, and gone when it is disposed of. */
  between(dir: string, other: string): Promise<ReviewRepository & AsyncDisposable>;
  /** The result that a merge would have, for as long as it exists. */
  reading(source: ObjectSource): ReviewReader;
  /** Undefined before the first one. */
  open(dir: string): Promise<ReviewRepository | undefined>;
}
