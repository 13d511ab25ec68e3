import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { EgressRequest, NetworkRule } from "../../contract/network/policy.ts";
import type { Using } from "../using.ts";
import { applyPolicy } from "./apply-policy.ts";

type Parts = Using<"background" | "commit" | "event" | "gate" | "getBox" | "live" | "locked" | "store">;

/** SECURITY: a yes to one request must not open the whole host: what was asked about is what the rule allows. */
export function ruleFor({ host, port, method, path }: EgressRequest, expiresAtMs: number): NetworkRule {
  if (path?.includes("*")) {
    throw new AgentBoxError("input.invalid", "A path with a * in it would be remembered as a pattern.", {
      hint: "Allow it once, or write a rule in the manifest.",
    });
  }
  return {
    id: `approval:${host}:${port}${method === undefined ? "" : `:${method}`}${path ?? ""}`,
    origin: { layer: "approval" },
    mode: "allow",
    host: { name: host, isWildcard: false },
    ports: [port],
    methods: method === undefined ? [] : [method],
    paths: path === undefined ? [] : [path],
    inspect: false,
    expiresAtMs,
  };
}

/** A yes for more than one connection is a rule like any other: visible, with an end, and for this alone. */
export async function rememberRule(
  core: Parts,
  {
    name,
    incarnation,
    projectDir,
  }: Pick<Box, "name" | "incarnation"> & { readonly projectDir?: string | undefined },
  scope: "box" | "project",
  rule: NetworkRule,
): Promise<void> {
  if (scope === "box") return rememberForBox(core, name, incarnation, rule);
  if (projectDir === undefined) throw noProject(name);
  const data = { projectDir, rule: rule.id, expiresAtMs: rule.expiresAtMs };
  await core.commit({
    grant: { projectDir, rule },
    events: [core.event("policy.changed", undefined, data)],
  });
  for (const box of await core.ports.store.listBoxes()) {
    if (box.projectDir === projectDir) await applyPolicy(core, box);
  }
}

function rememberForBox(core: Parts, name: string, incarnation: string, rule: NetworkRule): Promise<void> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    if (box.incarnation !== incarnation || !box.network) return;
    const others = box.network.rules.filter(({ id }) => id !== rule.id);
    const update = { ...box, network: { ...box.network, rules: [...others, rule] } };
    const data = { rule: rule.id, expiresAtMs: rule.expiresAtMs };
    await core.commit({ update, events: [core.event("policy.changed", update, data)] });
    await applyPolicy(core, update);
  });
}

export const noProject = (box: string): AgentBoxError =>
  new AgentBoxError("input.invalid", `The box "${box}" belongs to no project.`, {
    hint: "Answer for the box instead: --scope box",
  });
