/**
 * The tool store: agents' programs, installed once and shared read-only by all boxes. Guarantees:
 * - An entry is named by agent, version and content; it appears whole or not at all, and never changes.
 * - `use` gives a directory only after it was found to be what was installed.
 * - Nothing of a package is executed on the host: no install scripts, no version probe.
 */
import type { InstallRecipe } from "../contract/agent.ts";
import type { InstalledTool } from "../contract/tool.ts";

export interface InstallRequest {
  readonly agent: string;
  readonly recipe: InstallRecipe;
  /** Another version than the recipe's. */
  readonly version?: string | undefined;
  /** The file or directory to take, in place of what a registry has. Recipes of kind `path` need it. */
  readonly from?: string | undefined;
  /** The hash of the content that a lock file expects; another content is refused. */
  readonly expectedDigest?: string | undefined;
  /** The current step, as a short sentence. */
  readonly onProgress: (message: string) => void;
  readonly signal: AbortSignal;
}

export interface UsableTool {
  readonly tool: InstalledTool;
  /** Host directory to mount read-only at `/opt/agentbox/agents/<agent>`. */
  readonly dir: string;
  /** Path of the program below that directory. */
  readonly program: string;
}

export interface ToolStore {
  list(): Promise<readonly InstalledTool[]>;
  /** The same version and content again does nothing. Fails with tool.install_failed or tool.unsupported. */
  install(request: InstallRequest): Promise<InstalledTool>;
  /** Verified. Fails with tool.not_installed or tool.tampered. Without a version: the one pinned on this host. */
  use(agent: string, recipe: InstallRecipe, version?: string): Promise<UsableTool>;
  remove(agent: string, version: string): Promise<void>;
  /** Hashes everything again: what is whole, what is not and why. */
  verify(agent: string, version: string): Promise<{ readonly isWhole: boolean; readonly problem?: string }>;
  /** The version boxes get when nothing else is said: the host's own lock file. */
  pinned(agent: string): Promise<string | undefined>;
  pin(agent: string, version: string | undefined): Promise<void>;
  /** The same in the lock file of a project, for all who work on it. */
  pinProject(projectDir: string, agent: string, version: string): Promise<void>;
  /** The digest of an image's reference, by the lock file of a project or, without one, by this host's. */
  pinnedImage(projectDir: string | undefined, reference: string): Promise<string | undefined>;
  pinImage(projectDir: string | undefined, reference: string, digest: string): Promise<void>;
}
