import type { RouteBody } from "../../contract/api/routes.ts";
import type { NetworkPolicy } from "../../contract/network/policy.ts";
import type { RecordParts, Using } from "../using.ts";
import { requireTrust } from "../trust/grant-trust.ts";
import { withSecretRulesOf } from "../policy/secret-rules.ts";
import type { Maker } from "../team/members.ts";
import { readLayers } from "../manifest/read-layers.ts";
import { announcePorts, applyPolicy, effectivePolicy } from "./apply-policy.ts";
import { compileFor } from "./compile-for.ts";

/**
 * Puts another policy in force on a box that may be running: connections it no longer allows are closed at once.
 * The same rules as at creation: what a repository asks for needs a person's yes.
 */
export function changePolicy(
  core: Using<
    | RecordParts
    | "access"
    | "agents"
    | "background"
    | "gate"
    | "getBox"
    | "host"
    | "live"
    | "locked"
    | "note"
    | "presets"
    | "runtimes"
  >,
  name: string,
  request: RouteBody<"changePolicy"> & Partial<Maker>,
): Promise<NetworkPolicy> {
  return core.locked(name, async () => {
    const box = await core.getBox(name);
    const { inputs } = await readLayers(core, request);
    await requireTrust(core, inputs, request.trust, request);
    const network = withSecretRulesOf(compileFor(inputs), box.network);
    const update = { ...box, network };
    await core.commit({
      update,
      events: [core.event("policy.changed", update, { rules: network.rules.map(({ id }) => id) })],
    });
    await applyPolicy(core, update);
    await announcePorts(core, update);
    return effectivePolicy(core, update);
  });
}
