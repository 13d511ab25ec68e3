/**
 * The guarantees for a box of an engine, in stable names, with the mechanism behind each; and the limits it can hold at
 * all.
 */
import { AgentBoxError } from "../../../base/errors.ts";
import type { Guarantee, Isolation, ResourceSpec } from "../../../contract/box.ts";
import type { EngineFacts } from "../../../host/engine/facts.ts";
import { limitGuarantees } from "../../../ports/runtime.ts";
import { mapsUsers } from "./container-config.ts";

type LimitName = "cpus" | "memory" | "pids";
const limitNames: readonly LimitName[] = ["cpus", "memory", "pids"];

const held = (name: string, by: string): Guarantee => ({ name, isEnforced: true, by });

const amountOf = (limit: LimitName, resources: ResourceSpec): number | undefined =>
  ({ cpus: resources.cpus, memory: resources.memoryBytes, pids: resources.pids })[limit];

/** Why a limit cannot be held, or undefined when it can. */
function whyUnheld(limit: LimitName, facts: EngineFacts, boundary: Boundary): string | undefined {
  if (limit === "pids" && boundary.threadCeiling !== undefined)
    return `the boundary's own threads are counted with the box's: at ${boundary.threadCeiling} of both, the box ends`;
  if (facts.limits[limit]) return undefined;
  return facts.isRootless && facts.cgroupVersion === 1
    ? "a rootless engine has no control groups of the first version"
    : "the engine says that it cannot hold this limit";
}

/** The differences between the boundaries an engine can make: a kernel shared with the host, or gVisor's. */
export interface Boundary {
  readonly tier: Isolation["tier"];
  readonly kernel: Guarantee;
  readonly syscalls: Guarantee;
  readonly terminal: Guarantee;
  /** Who a box is on the host, where that is not simply its user. */
  readonly users?: Guarantee | undefined;
  /**
   * For a boundary whose own threads are counted with the box's, so that no number of processes can be held: how many
   * there may be of both, at which the box as a whole ends and the host has lost nothing.
   */
  readonly threadCeiling?: number | undefined;
}

export const containerBoundary: Boundary = {
  tier: "container",
  kernel: { name: "own kernel", isEnforced: false, by: "the host's, behind the filter" },
  syscalls: held("syscalls", "seccomp profile that names what is allowed"),
  terminal: held("terminal", "no terminal of the host, and TIOCSTI and TIOCLINUX refused by seccomp"),
};

/** A way out of a rootless engine's container is not root: one tier above a container, and below a kernel of its own. */
export const tierOf = ({ isRootless }: EngineFacts, { tier }: Boundary): Isolation["tier"] =>
  tier === "container" && isRootless ? "rootless" : tier;

export function isolationOf(resources: ResourceSpec, facts: EngineFacts, boundary: Boundary): Isolation {
  const limits = limitNames.map((limit): Guarantee => {
    const name = limitGuarantees[limit];
    const reason = whyUnheld(limit, facts, boundary);
    if (reason !== undefined) return { name, isEnforced: false, by: reason };
    if (amountOf(limit, resources) === undefined)
      return { name, isEnforced: false, by: "no limit was asked for" };
    return held(name, "the engine's control group");
  });
  return {
    tier: tierOf(facts, boundary),
    guarantees: [
      held("network", "own network namespace with nothing but loopback"),
      held("filesystem", "own mount namespace with a read-only root: own home, workspace, /tmp and /dev"),
      held("processes", "own pid and ipc namespaces"),
      ...userGuarantees(facts, boundary),
      held("hostname", "own uts namespace"),
      held("capabilities", "none, and no_new_privs"),
      boundary.kernel,
      boundary.syscalls,
      boundary.terminal,
      held("environment", "no inherited variable or file descriptor"),
      groupGuarantee(facts),
      engineGuarantee(facts),
      ...limits,
    ],
  };
}

function userGuarantees(facts: EngineFacts, { users }: Boundary): readonly Guarantee[] {
  if (mapsUsers(facts))
    return [
      held("users", "own user namespace over an unprivileged host user"),
      held("user namespace", "the engine maps the box's user; root inside would be nobody outside"),
    ];
  return [
    users ?? held("users", "an unprivileged host user of its own; the engine has no user namespaces"),
    {
      name: "user namespace",
      isEnforced: false,
      by: "the engine has none: the box sees its host user's number",
    },
  ];
}

/** Podman gives none on the first version, for any user and any request. */
const groupGuarantee = ({ kind, cgroupVersion }: EngineFacts): Guarantee =>
  kind === "podman" && cgroupVersion === 1
    ? {
        name: "cgroup namespace",
        isEnforced: false,
        by: "Podman has none where control groups are of the first version",
      }
    : held("cgroup namespace", "the box sees its own control group as the only one");

const engineGuarantee = (facts: EngineFacts): Guarantee =>
  facts.isRootless
    ? held("rootless engine", "the engine itself is an ordinary user's: a way out of the box is not root")
    : { name: "rootless engine", isEnforced: false, by: "the engine runs as root" };

export function refuseUnenforceable(resources: ResourceSpec, facts: EngineFacts, boundary: Boundary): void {
  const required = limitNames.filter((limit) => resources.required.includes(limit));
  const gap = required.find((limit) => whyUnheld(limit, facts, boundary) !== undefined);
  if (gap === undefined) return;
  const limit = limitGuarantees[gap];
  const reason = whyUnheld(gap, facts, boundary);
  throw new AgentBoxError("policy.unenforceable", `The ${limit} cannot be enforced here: ${reason}.`, {
    hint: `Leave the ${limit} out, or use an engine that has control groups (as root, or with control groups of the second version).`,
    facts: { limit: gap },
  });
}
