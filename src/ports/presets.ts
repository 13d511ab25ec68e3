/**
 * Named lists of hosts. A list is either reviewed data, or what a package manager is configured with on this host.
 * - The person's configuration decides, never a project's: a repository cannot choose what a preset means.
 * - Nothing is guessed: a tool that is missing or says nothing is `policy.invalid` with a hint.
 */
import type { PresetHosts } from "../contract/network/preset.ts";

export interface PresetSource {
  /** All that can be asked for. */
  readonly names: readonly string[];
  /** Other words for them. */
  readonly aliases: readonly string[];
  /** The rules of the preset now. Throws `policy.invalid` when they cannot be told. */
  read(name: string): Promise<PresetHosts>;
}
