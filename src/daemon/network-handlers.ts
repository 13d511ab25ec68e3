/** The handlers of the gate's routes. */
import { AgentBoxError } from "../base/errors.ts";
import type { RouteName } from "../contract/api/routes.ts";
import { changePolicy } from "../core/network/change-policy.ts";
import { describePolicy } from "../core/network/describe-policy.ts";
import { effectivePolicy } from "../core/network/apply-policy.ts";
import { explainEgress } from "../core/policy/explain-egress.ts";
import { learnPolicy } from "../core/policy/learn-policy.ts";
import type { Handlers } from "./handlers.ts";

type NetworkRoute = Extract<
  RouteName,
  | "getPolicy"
  | "changePolicy"
  | "explainPolicy"
  | "learnPolicy"
  | "getNet"
  | "listEgress"
  | "listApprovals"
  | "answerApproval"
>;

const maxLearned = 10_000;

export const networkHandlers: Pick<Handlers, NetworkRoute> = {
  async getPolicy({ deps: { core }, params }) {
    const policy = await effectivePolicy(core, await core.getBox(params["box"]!));
    return { policy, lines: describePolicy(policy) };
  },
  async changePolicy({ deps: { core }, params, body }) {
    const policy = await changePolicy(core, params["box"]!, body);
    return { policy, lines: describePolicy(policy) };
  },
  async explainPolicy({ deps: { core }, params, body }) {
    const policy = await effectivePolicy(core, await core.getBox(params["box"]!));
    return explainEgress(policy, body, { nowMs: core.ports.clock.nowMs() });
  },
  async learnPolicy({ deps: { core }, params }) {
    const { name, incarnation } = await core.getBox(params["box"]!);
    await core.egressLog.flush();
    const records = await core.ports.store.listEgress({ box: name, limit: maxLearned });
    // SECURITY: what an earlier box of this name wanted must not end up in what is pasted for this one.
    return { toml: learnPolicy(records.filter((record) => record.incarnation === incarnation)) };
  },
  async getNet({ deps: { core }, params }) {
    const { name } = await core.getBox(params["box"]!);
    const hosts = [...core.ports.gate.summary(name)];
    const total = (pick: (host: (typeof hosts)[number]) => number): number =>
      hosts.reduce((sum, host) => sum + pick(host), 0);
    return {
      box: name,
      hosts,
      requests: total(({ requests }) => requests),
      denials: total(({ denials }) => denials),
      bytesOut: total(({ bytesOut }) => bytesOut),
      bytesIn: total(({ bytesIn }) => bytesIn),
    };
  },
  async listEgress({ deps: { core }, query: { order, ...query } }) {
    await core.egressLog.flush();
    return {
      records: [...(await core.ports.store.listEgress({ ...query, newestFirst: order === "newest" }))],
    };
  },
  listApprovals: async ({ deps: { core } }) => ({ approvals: core.approvals.list() }),
  async answerApproval({ deps: { core }, params, body }) {
    const id = Number(params["approval"]);
    if (!Number.isSafeInteger(id))
      throw new AgentBoxError("input.invalid", "The number of a question is a whole number.");
    await core.approvals.answer(id, body);
    return {};
  },
};
