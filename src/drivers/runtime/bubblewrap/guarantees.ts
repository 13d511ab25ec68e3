/** The guarantees for a box of this runtime, in stable names, and the mechanism behind each. */
import type { Guarantee, Isolation, ResourceSpec } from "../../../contract/box.ts";
import { limitGuarantees } from "../../../ports/runtime.ts";
import { AgentBoxError } from "../../../base/errors.ts";
import type { Enforcements, LimitName } from "./limits/limiter.ts";

const always: readonly Guarantee[] = [
  ["network", "own network namespace with nothing but loopback"],
  ["filesystem", "own mount namespace: read-only system directories, own home, workspace, /tmp and /dev"],
  ["processes", "own pid and ipc namespaces"],
  ["users", "own user namespace over an unprivileged host user"],
  ["hostname", "own uts namespace"],
  ["capabilities", "none, and no_new_privs"],
  ["syscalls", "seccomp filter"],
  ["terminal", "own session, and TIOCSTI and TIOCLINUX refused by seccomp"],
  ["environment", "no inherited variable or file descriptor"],
].map(([name, by]) => ({ name: name!, isEnforced: true, by: by! }));

const limitNames: readonly LimitName[] = ["cpus", "memory", "pids"];

const amountOf = (limit: LimitName, resources: ResourceSpec): number | undefined =>
  ({ cpus: resources.cpus, memory: resources.memoryBytes, pids: resources.pids })[limit];

export function isolationOf(resources: ResourceSpec, can: Enforcements): Isolation {
  const limits = limitNames.map((limit): Guarantee => {
    const name = limitGuarantees[limit];
    if (amountOf(limit, resources) !== undefined) return { name, ...can[limit] };
    return { name, isEnforced: false, by: can[limit].isEnforced ? "no limit was asked for" : can[limit].by };
  });
  return { tier: "namespaces", guarantees: [...always, ...limits] };
}

export function refuseUnenforceable(resources: ResourceSpec, can: Enforcements): void {
  const gap = limitNames.find((limit) => resources.required.includes(limit) && !can[limit].isEnforced);
  if (gap === undefined) return;
  const limit = limitGuarantees[gap];
  throw new AgentBoxError(
    "policy.unenforceable",
    `The ${limit} cannot be enforced on this host: ${can[gap].by}.`,
    {
      hint: `Leave the ${limit} out, or run the daemon where control groups can be made (as root, or with a systemd user session).`,
      facts: { limit: gap },
    },
  );
}
