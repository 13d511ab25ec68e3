/** The parts of a specification that a runtime upholds, and all that it cannot. */
import { AgentBoxError } from "../../base/errors.ts";
import type { BoxSpec, Isolation } from "../../contract/box.ts";
import type { Using } from "../using.ts";
import { requireSupported } from "./require-supported.ts";
import { Problems } from "./problems.ts";

type Asked = Pick<BoxSpec, "runtime" | "tier" | "image" | "packages" | "exceptions" | "resources">;

/** `isolation` is absent when the runtime cannot start a box at all. Nothing is recorded. */
export async function findEnforceable(
  { ports }: Using<"runtimes" | "storage">,
  spec: Asked,
): Promise<{ readonly isolation?: Isolation; readonly problems: readonly AgentBoxError[] }> {
  const problems = new Problems();
  const runtime = await problems.attempt(() => ports.runtimes.requireReady(spec.runtime));
  if (runtime === undefined) return { problems: problems.list };
  const { tier, guarantees } = runtime.isolation({ resources: spec.resources });
  problems.try(() => requireSupported(spec, tier));
  const disk = await ports.storage.diskLimit();
  const all = [
    ...guarantees,
    {
      name: "disk limit",
      isEnforced: disk.canEnforce && spec.resources.diskBytes !== undefined,
      by: spec.resources.diskBytes === undefined && disk.canEnforce ? "no limit was asked for" : disk.by,
    },
  ];
  for (const limit of spec.resources.required) {
    const name = `${limit === "cpus" ? "cpu" : limit === "pids" ? "process" : limit} limit`;
    const guarantee = all.find((candidate) => candidate.name === name);
    if (guarantee?.isEnforced) continue;
    problems.add(unenforceable(limit, name, spec.runtime, guarantee?.by));
  }
  return { isolation: { tier, guarantees: all }, problems: problems.list };
}

/** A limit that was asked for by name and cannot be held is refused; it is never quietly dropped. */
const unenforceable = (limit: string, name: string, runtime: string, reason: string | undefined) =>
  new AgentBoxError(
    "policy.unenforceable",
    `The ${name} cannot be enforced here: ${reason ?? "the runtime has none"}.`,
    {
      hint: `Remove resources.${limit}, or use a host or runtime that can (see agentbox doctor).`,
      facts: { limit, runtime, reason },
    },
  );
