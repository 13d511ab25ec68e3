import type { z } from "zod";
import type { Problem } from "../finding.ts";
import type { HostDirectories } from "../../contract/mount-paths.ts";
import type { ManifestValues } from "../schema.ts";

/** The rules' knowledge besides the file; a rule whose knowledge is missing is not checked. */
export interface CheckContext extends HostDirectories {
  /** Names in the catalogue. */
  readonly agents?: readonly string[] | undefined;
  /** The options of each agent, by its name. */
  readonly agentOptions?: Readonly<Record<string, z.ZodObject>> | undefined;
  /** Names of model providers that other files have; the built-in ones are always known. */
  readonly providers?: readonly string[] | undefined;
  readonly runtimes?: readonly string[] | undefined;
  /** Those of them that a hint may name; all unless given. */
  readonly offeredRuntimes?: readonly string[] | undefined;
  /** Names of network presets. */
  readonly presets?: readonly string[] | undefined;
  /** The wall clock, to tell what has ended. */
  readonly nowMs?: number | undefined;
  /** The user config's limits.max_ttl; 5 days unless given. */
  readonly maxTtlMs?: number | undefined;
}

/** A semantic rule: sees only sections whose form is right. Pure. */
export type Check = (values: ManifestValues, context: CheckContext) => Problem[];
