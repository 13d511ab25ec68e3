/** Fills a box's workspace from a host directory. Reads the source, never writes it, never runs code from it. */
import type { BoxOwner, WorkspaceSpec } from "../contract/box.ts";

export interface PreparedWorkspace {
  /** The commit the box started from, when the source is a git repository with one. */
  readonly baseCommit?: string | undefined;
  /** Uncommitted paths of the source that were not carried in. */
  readonly leftBehind: number;
  /** Where the source has other repositories in it, which a clone of it does not bring along. */
  readonly emptySubmodules?: readonly string[];
}

export interface Workspaces {
  /** The mode for a directory without a decision: clone for a git repository, copy otherwise. */
  defaultMode(source: string): Promise<"clone" | "copy">;
  prepare(options: {
    readonly spec: WorkspaceSpec;
    readonly target: string;
    readonly owner: BoxOwner;
    readonly box: string;
  }): Promise<PreparedWorkspace>;
}
