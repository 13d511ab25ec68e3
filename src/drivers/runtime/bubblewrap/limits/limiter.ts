/** The limits of a box's share of the host. Each kind says which it can enforce, and why not the others. */
import type { ResourceSpec } from "../../../../contract/box.ts";
import type { RuntimeUsage } from "../../../../ports/runtime.ts";

export interface Enforcement {
  readonly isEnforced: boolean;
  /** The mechanism that enforces it, or the reason for none. */
  readonly by: string;
}

export type LimitName = "cpus" | "memory" | "pids";
export type Enforcements = Readonly<Record<LimitName, Enforcement>>;

/** How the processes of one box get under its limits; data, so that the launch plan stays pure. */
export interface Placement {
  /** The first process writes its id into each of these before it gives up its rights. */
  readonly enter: readonly string[];
  /** Stands before the whole chain. */
  readonly aroundChain: readonly string[];
  /** Stands before the inner bubblewrap, in the box's outer user namespace. */
  readonly aroundBox: readonly string[];
}

export const nowhere: Placement = { enter: [], aroundChain: [], aroundBox: [] };

export interface Limiter {
  readonly can: Enforcements;
  prepare(box: string, resources: ResourceSpec): Promise<Placement>;
  /** Forgets the box; nothing happens when there is nothing to forget. Its processes are gone by then. */
  release(box: string): Promise<void>;
  /** Takes away what no box uses any more. */
  close(): Promise<void>;
  /** Undefined when this kind does not count. */
  usage(box: string): Promise<RuntimeUsage | undefined>;
  /** Undefined when this kind cannot freeze. */
  readonly freezer: GroupFreezer | undefined;
}

export interface GroupFreezer {
  freeze(box: string): Promise<void>;
  thaw(box: string): Promise<void>;
  isFrozen(box: string): Promise<boolean>;
}
