import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import type { EgressRecord } from "../../contract/network/egress.ts";
import type { SessionSummary } from "../../contract/review/review.ts";
import { isHeld } from "../../contract/secret/binding.ts";
import type { Using } from "../using.ts";

const maxRecords = 5_000;
const maxHosts = 50;

/** The events in a box, from the records of the gate, the gateway and the agent itself. */
export async function summarise(core: Using<"clock" | "store">, box: Box): Promise<SessionSummary> {
  const { store, clock } = core.ports;
  const [egress, receipts, usage, events] = await Promise.all([
    store.listEgress({ box: box.name, limit: maxRecords, newestFirst: true }),
    store.listEgress({ box: box.name, secret: true, limit: maxRecords, newestFirst: true }),
    store.sumModel({ box: box.name, incarnation: box.incarnation }),
    store.listEvents({ box: box.name, type: "agent.event", limit: maxRecords, newestFirst: true }),
  ]);
  const own = egress.filter(({ incarnation }) => incarnation === box.incarnation);
  const hosts = (verdict: "allow" | "deny"): string[] =>
    [...new Set(own.filter((record) => record.verdict === verdict).map(({ host }) => host))]
      .sort()
      .slice(0, maxHosts);
  const isLive = box.state.phase === "running" || box.state.phase === "paused";
  return {
    durationMs: Math.max(0, (isLive ? clock.nowMs() : box.state.sinceMs) - box.createdAtMs),
    turns: box.run?.turns ?? 0,
    commands: events.filter(
      ({ incarnation, data }) => incarnation === box.incarnation && data["kind"] === "tool_called",
    ).length,
    hostsReached: hosts("allow"),
    hostsDenied: hosts("deny"),
    usage,
    ...omitUndefined({ verdict: box.run?.verdict }),
    secrets: secretsOf(box, receipts),
    exceptions: box.spec.exceptions ?? [],
  };
}

/** Each secret of the box once, with the receipts of its uses. */
function secretsOf(box: Box, receipts: readonly EgressRecord[]): SessionSummary["secrets"] {
  const used = receipts.filter(
    ({ incarnation, isInjected }) => incarnation === box.incarnation && isInjected,
  );
  const names = [...new Set(box.spec.secrets.map(({ secret }) => secret))].sort();
  return names.map((name) => ({
    name,
    uses: used.filter(({ secret }) => secret === name).length,
    isHeld: box.spec.secrets.some((binding) => binding.secret === name && isHeld(binding)),
  }));
}
