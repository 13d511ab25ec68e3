/**
 * The directories of boxes on this host: made with the right owner and mode, measured, limited, removed. Nothing
 * outside `<home>/boxes` and `<home>/removed` is ever touched, and removal never follows a link that a box has planted.
 */
import type { BoxOwner } from "../contract/box.ts";
import type { BoxDirs } from "./runtime.ts";

export interface BoxDiskUse {
  readonly home: number | undefined;
  /** Caches of package managers in the home, which can be fetched again. */
  readonly caches: number | undefined;
  readonly workspace: number | undefined;
  readonly logs: number | undefined;
  readonly review: number | undefined;
}

export interface BoxStorage {
  readonly boxesDir: string;
  /** Where the directories of a box are, whether or not they exist. */
  dirs(name: string): BoxDirs;
  /** Work that left a box for review; the daemon's alone, never visible in a box. Made by the review service. */
  reviewDir(name: string): string;
  /** Whether a limit can be enforced here, and by what. */
  diskLimit(): Promise<{ readonly canEnforce: boolean; readonly by: string }>;
  /** Makes the directories. Removes what a crashed attempt has left of the same name first. */
  create(
    name: string,
    options: { readonly owner: BoxOwner; readonly diskBytes?: number | undefined },
  ): Promise<BoxDirs>;
  /** Marks the moment from which on everything in the workspace is the box's own work. */
  seal(name: string): Promise<void>;
  /** Makes a box's directories usable again, for example after the host restarted. Idempotent. */
  ensure(name: string, options: { readonly diskBytes?: number | undefined }): Promise<void>;
  remove(name: string): Promise<void>;
  /**
   * Moves the review repository out of a box that is about to be removed, to where only the daemon can read it. Idempotent;
   * false when there is nothing to keep.
   */
  keepReview(name: string, id: string): Promise<boolean>;
  keptReviewDir(id: string): string;
  /** Gives what was kept to a box that has no review repository of its own. */
  giveReview(id: string, name: string): Promise<void>;
  forgetReview(id: string): Promise<void>;
  /** Ids of all that is kept. */
  listKept(): Promise<readonly string[]>;
  /** Names of all boxes that have something on the disk, also half-made ones. */
  list(): Promise<readonly string[]>;
  /**
   * The branch the workspace is on, or the directory that is mounted in its place; undefined when that is no repository,
   * or on no branch. Reads one small file: git is not run, and no link that the box has planted is followed.
   */
  branch(name: string, options?: { readonly mounted?: string | undefined }): Promise<string | undefined>;
  /** Bytes used by home and workspace. */
  usage(name: string): Promise<number>;
  /**
   * The disk space of a box, by part; a part that could not be counted in time is undefined. Links are not followed.
   */
  measure(name: string, options: { readonly timeoutMs: number }): Promise<BoxDiskUse>;
  /** The same for what all boxes of this installation share, such as the tool store. */
  measureShared(options: {
    readonly timeoutMs: number;
  }): Promise<Readonly<Record<string, number | undefined>>>;
  /** Bytes free on the disk that holds the boxes. */
  freeBytes(): Promise<number>;
}
