/**
 * Package caches that a project keeps on the host. No box ever sees the store: it is filled from a box at rest, when a
 * person says so, and a new box gets a copy of its own. What one box writes therefore reaches another one only
 * through a person's decision, and never another project.
 */
import type { BoxOwner } from "../contract/box.ts";
import type { ProjectCache } from "../contract/cache.ts";

export interface ProjectCaches {
  /** The newest first. */
  list(): Promise<readonly ProjectCache[]>;
  /** Replaces what the project has. The box must be at rest: nothing may change its home meanwhile. */
  save(from: {
    readonly projectDir: string;
    readonly box: string;
    readonly home: string;
    readonly owner: BoxOwner;
  }): Promise<ProjectCache>;
  /** Copies what the project has, if anything, into the home of a box that has not run yet. */
  give(to: {
    readonly projectDir: string;
    readonly home: string;
    readonly owner: BoxOwner;
  }): Promise<ProjectCache | undefined>;
  /** False when the project has none. */
  clear(projectDir: string): Promise<boolean>;
}
