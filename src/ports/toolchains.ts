/**
 * Toolchains that are installed on the host. Looks at names of directories and small settings files of version managers
 * only: no program is run, and no text of a project becomes a path.
 */
import type { Toolchain, ToolNeed } from "../contract/toolchain.ts";

export interface FoundToolchain {
  readonly need: ToolNeed;
  /** The one that the need means on this host; undefined without one in a version manager. */
  readonly toolchain?: Toolchain | undefined;
  /** Where a program of the language stands below /usr. */
  readonly system?: string | undefined;
  /** Versions in version managers. */
  readonly installed: readonly string[];
}

export interface Toolchains {
  find(needs: readonly ToolNeed[]): Promise<readonly FoundToolchain[]>;
  /** Directories below /usr of the daemon's PATH that no box has by itself. */
  systemPath(): Promise<readonly string[]>;
}
