/** The handlers of the gate's routes. */
import { AgentBoxError } from "../../base/errors.ts";
import { joinTotals } from "../../contract/network/host-totals.ts";
import type { networkRoutes } from "../../contract/api/routes/network.ts";
import { forbidden, makerOf, requireProject } from "../../core/team/members.ts";
import { requireParameter } from "../../core/access/authority.ts";
import { listVisible } from "../../core/access/visible-records.ts";
import { allowEgress } from "../../core/network/allow-egress.ts";
import { changePolicy } from "../../core/network/change-policy.ts";
import { describePolicy } from "../../core/network/describe-policy.ts";
import { effectivePolicy } from "../../core/network/apply-policy.ts";
import { findPresets } from "../../core/network/find-presets.ts";
import { explainEgress } from "../../core/policy/explain-egress.ts";
import { learnPolicy } from "../../core/policy/learn-policy.ts";
import type { Handlers } from "./handlers.ts";
import { mayWorkIn, requireBoxOnly, requireOwnQuestion } from "./require-access.ts";

const maxLearned = 10_000;

export const networkHandlers: Pick<Handlers, keyof typeof networkRoutes> = {
  async getPolicy({ deps: { core }, params }) {
    const policy = await effectivePolicy(core, await core.getBox(params["box"]!));
    return { policy, lines: describePolicy(policy) };
  },
  async changePolicy({ deps: { core }, params, body, access }) {
    await requireProject(core, access, body);
    const policy = await changePolicy(core, params["box"]!, { ...body, ...makerOf(access) });
    return { policy, lines: describePolicy(policy) };
  },
  async allowEgress({ deps: { core }, params, body, access }) {
    requireBoxOnly(access, body.scope);
    const policy = await allowEgress(core, params["box"]!, body);
    return { policy, lines: describePolicy(policy) };
  },
  async explainPolicy({ deps: { core }, params, body, access }) {
    const box = await core.getBox(params["box"]!);
    const policy = await effectivePolicy(core, box);
    const explain = (presets: readonly string[]) =>
      explainEgress(policy, body, { nowMs: core.ports.clock.nowMs() }, { box: box.name, presets });
    const explanation = explain([]);
    // SECURITY: finding presets runs package managers of the host, which a caller who may only look must not cause.
    const mayChange = explanation.verdict !== "allow" && mayWorkIn(access, box);
    return mayChange ? explain(await findPresets(core, explanation)) : explanation;
  },
  async learnPolicy({ deps: { core }, params }) {
    const { name, incarnation } = await core.getBox(params["box"]!);
    await core.egressLog.flush();
    const records = await core.ports.store.listEgress({ box: name, limit: maxLearned });
    // SECURITY: what an earlier box of this name wanted must not end up in what is pasted for this one.
    return { toml: learnPolicy(records.filter((record) => record.incarnation === incarnation)) };
  },
  async getNet({ deps: { core }, params }) {
    const { name, incarnation } = await core.getBox(params["box"]!);
    await core.egressLog.flush();
    const hosts = joinTotals(
      await core.ports.store.sumEgress(name, incarnation),
      core.ports.gate.openHosts(name),
    );
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
  async listEgress({ deps: { core }, query: { order, host, verdict, ...query }, access }) {
    await core.egressLog.flush();
    const page = { ...query, newestFirst: order === "newest" };
    const records = await listVisible(core, access, page, ({ before: _before, ...one }) =>
      core.ports.store.listEgress({ ...one, host, verdict }),
    );
    return { records };
  },
  async listApprovals({ deps: { core }, access }) {
    const all = core.approvals.list();
    const seen = await Promise.all(all.map(async ({ box }) => access.isOfHost || access.sees(box)));
    return { approvals: all.filter((_approval, index) => seen[index]) };
  },
  async listMissedApprovals({ deps: { core }, access }) {
    const all = core.approvals.listMissed();
    const seen = await Promise.all(all.map(async ({ box }) => access.isOfHost || access.sees(box)));
    return { missed: all.filter((_missed, index) => seen[index]) };
  },
  async answerApproval({ deps: { core }, params, body, access }) {
    const id = Number(params["approval"]);
    if (!Number.isSafeInteger(id))
      throw new AgentBoxError("input.invalid", "The number of a question is a whole number.");
    await requireOwnQuestion(core, access, id);
    requireBoxOnly(access, body.scope);
    // SECURITY: a yes lets a box out, or uses a secret: that is agreeing to something, as with a manifest.
    if (body.answer === "allow" && !access.isOfHost)
      throw forbidden("A yes is for the owner and admins; you can say no.");
    const asksForSecret = core.approvals.find(id)?.secret !== undefined;
    if (body.answer === "allow" && asksForSecret) requireParameter(core, access, "answerApproval", "secret");
    await core.approvals.answer(id, body);
    return {};
  },
};
