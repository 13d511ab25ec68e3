/** Pushes an agent's work to a branch of its own and opens a pull request for it, through the same gate as a merge. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { RouteBody } from "../../contract/api/routes.ts";
import type { Box } from "../../contract/box.ts";
import { parseUserConfig } from "../../manifest/index.ts";
import type { PushSection } from "../../manifest/sections/push-section.ts";
import type { PushRecord } from "../../contract/review/push.ts";
import type { RemoteRepository, RemoteState } from "../../ports/forge.ts";
import type { MergeRequest } from "../../ports/merge.ts";
import type { RecordParts, ReviewParts, Using } from "../using.ts";
import { type LookedAt, conflict, unchanged, allowLanding } from "./allow-landing.ts";
import { openCredential } from "./push-credential.ts";
import { beginning } from "./review-of.ts";
import {
  type PushTarget,
  compareUrl,
  parsePushTarget,
  requireAllowedBranch,
  requireOwnBranch,
} from "./push-target.ts";

type Parts = Using<ReviewParts | "connections" | "forges" | "host" | "secretGrants" | "vault">;

type PushOptions = RouteBody<"pushWork"> & Pick<LookedAt, "who">;

/** One push, once it is known to be allowed. */
interface Push {
  readonly box: Box;
  readonly options: PushOptions;
  readonly request: MergeRequest;
  readonly target: PushTarget;
  readonly remote: RemoteRepository;
  readonly branch: string;
  readonly base: string | undefined;
  /** Where the branch is, if it is there. */
  readonly tip: string | undefined;
  /** The commit we pushed there before. */
  readonly last: PushRecord | undefined;
}

export const pushWork = (core: Parts, name: string, options: PushOptions): Promise<PushRecord> =>
  core.locked(`push ${name}`, async () => {
    const push = await planPush(core, name, options);
    const pushed = await pushBranch(core, push);
    return options.isPushOnly ? pushed : openPullRequest(core, push, pushed);
  });

async function planPush(core: Parts, name: string, options: PushOptions): Promise<Push> {
  const before = await core.getBox(name);
  const settings = await readSettings(core);
  const branch = options.branch ?? `agentbox/${name}`;
  requireAllowedBranch(branch, settings);
  requireOwnBranch(branch, [options.base]);
  const target = await findPushTarget(core, before, options.remote, settings);
  const message =
    options.title === undefined ? undefined : `${options.title}\n\n${options.body ?? ""}`.trim();
  const onto = await beginning(core, before);
  const request = await allowLanding(core, name, "pr", { ...options, message, onto });
  const box = await core.getBox(name);
  const { secret, ...credential } = await openCredential(core, box, target, {
    settings,
    secret: options.secret,
  });
  // Before it is used, so that no use goes unrecorded.
  await core.note("secret.used", box, { secret, host: target.host, how: "push" });
  const remote = { url: target.url, credential };
  const asked = [branch, ...(options.base === undefined ? [] : [options.base])];
  const state = await core.ports.forges.look(remote, asked);
  const base = options.base ?? state.defaultBranch;
  requireOwnBranch(branch, [state.defaultBranch, base]);
  const last = (await core.ports.store.listReview("push", { incarnation: box.incarnation })).find(
    (one) => one.repository === target.url && one.branch === branch,
  );
  const tip = requireOurs(state, branch, last);
  return { box, options, request, target, remote, branch, base, tip, last };
}

async function readSettings(core: Using<"host">): Promise<PushSection> {
  const file = await core.ports.host.readUserConfig();
  if (file === undefined) return {};
  const { config } = parseUserConfig(file.text, { file: file.file });
  if (config) return config.push ?? {};
  throw new AgentBoxError("manifest.invalid", `${file.file} cannot be read.`, {
    hint: "See what is wrong: agentbox config explain",
  });
}

const remoteName = /^[A-Za-z0-9][\w.-]*$/;

async function findPushTarget(
  core: Using<"forges">,
  box: Box,
  remote: string,
  settings: PushSection,
): Promise<PushTarget> {
  const projectDir = box.projectDir ?? box.spec.workspace.source;
  const isName = remoteName.test(remote) && projectDir !== undefined;
  const url = isName ? await core.ports.forges.findRemote(projectDir, remote) : undefined;
  if (url !== undefined) return parsePushTarget(remote, url, settings);
  throw new AgentBoxError(
    "push.refused",
    `The project of "${box.name}" has no remote named ${JSON.stringify(remote)}.`,
    { hint: "List them with git remote -v, and choose one with --remote." },
  );
}

/** SECURITY: a branch that another person made or moved holds work that a push would take away. */
function requireOurs(
  { tips }: RemoteState,
  branch: string,
  last: PushRecord | undefined,
): string | undefined {
  const tip = tips.get(branch);
  if (tip === undefined || tip === last?.commit) return tip;
  const why = last === undefined ? "is there already, and not from this box" : "was moved by somebody else";
  throw new AgentBoxError("push.refused", `The branch ${branch} ${why}.`, {
    hint: "Push to another one with --branch agentbox/NAME, or remove it there.",
    facts: { branch, found: tip, ...omitUndefined({ left: last?.commit }) },
  });
}

async function pushBranch(core: Using<RecordParts | "forges" | "merges">, push: Push): Promise<PushRecord> {
  const { box, options, request, target, remote, branch, base, tip, last } = push;
  const isThere =
    last !== undefined &&
    tip === last.commit &&
    last.checkpoint === request.commit &&
    last.mode === options.mode &&
    options.title === undefined;
  if (isThere) return last;
  await using prepared = await prepare(core, push);
  const { commit, files, gitDir } = prepared;
  await core.ports.forges.push({ ...remote, repository: gitDir, commit, branch, expected: tip });
  const compare = base === undefined ? undefined : compareUrl(target, base, branch);
  const { url, number } = tip === undefined ? {} : (last ?? {});
  return keepPush(core, box, {
    box: box.name,
    incarnation: box.incarnation,
    projectDir: request.projectDir,
    remote: options.remote,
    repository: target.url,
    host: target.host,
    branch,
    mode: options.mode,
    commit,
    checkpoint: request.commit,
    files,
    atMs: core.ports.clock.nowMs(),
    ...omitUndefined({ base, compareUrl: compare, url, number }),
  });
}

async function prepare(core: Using<"merges" | "store">, { box, request }: Push) {
  const prepared = await core.ports.merges.prepare(request, await beginning(core, box));
  if (prepared.outcome === "conflict") throw conflict(box.name, prepared.conflicts);
  if (prepared.outcome === "nothing") throw unchanged(box.name);
  return prepared;
}

async function openPullRequest(
  core: Using<"commit" | "event" | "forges">,
  push: Push,
  pushed: PushRecord,
): Promise<PushRecord> {
  const { box, options, request, target, remote, base } = push;
  if (pushed.number !== undefined || target.forge === undefined) return pushed;
  if (base === undefined) {
    throw new AgentBoxError(
      "push.failed",
      "The branch is pushed, but the remote has no other to merge it into.",
      {
        hint: "Push a first commit to the remote, or name the branch with --base.",
      },
    );
  }
  const [first = "", ...rest] = request.message.split("\n");
  const opened = await core.ports.forges.openPullRequest({
    ...remote,
    forge: target.forge,
    branch: pushed.branch,
    base,
    title: (options.title ?? first).slice(0, 256) || `Work of ${box.name}`,
    body: options.body ?? rest.join("\n").trim(),
    isDraft: options.isDraft,
  });
  return keepPush(core, box, { ...pushed, base, url: opened.url, number: opened.number });
}

/** Kept after each step: a pull request that could not be opened must not make the branch a stranger's. */
async function keepPush(core: Using<"commit" | "event">, box: Box, value: PushRecord): Promise<PushRecord> {
  const { host, branch, base, commit, url, number } = value;
  await core.commit({
    review: [{ kind: "push", key: `${value.repository}#${branch}`, value }],
    events: [core.event("work.pushed", box, { host, branch, base, commit, url, number })],
  });
  return value;
}
