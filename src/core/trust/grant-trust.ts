/** A manifest found in a repository is a request, not an order: a person agrees once to exactly what is asked. */
import { AgentBoxError } from "../../base/errors.ts";
import type { RouteBody } from "../../contract/api/routes.ts";
import type { TrustEntry, TrustQuestion } from "../../contract/api/schemas.ts";
import type { RecordParts, Using } from "../using.ts";
import type { ManifestInputs } from "./mount-requests.ts";
import { isAgreed } from "./is-agreed.ts";
import { requireBrowserMounts } from "./own-directories.ts";
import type { Maker } from "../team/members.ts";
import { readLayers } from "../manifest/read-layers.ts";
import { recorded } from "../plan/record-refusals.ts";
import { trustRequests } from "./trust-requests.ts";

type Project = RouteBody<"askTrust">;

export async function askTrust(
  core: Using<"agents" | "host" | "presets" | "runtimes" | "store">,
  project: Project,
): Promise<TrustQuestion> {
  const { inputs } = await readLayers(core, project);
  const { requests, digest } = trustRequests(inputs);
  const projectDir = inputs.projectDir!;
  const record = await core.ports.store.findTrust(projectDir, digest);
  return {
    projectDir,
    digest,
    requests: requests.map(({ sentence }) => sentence),
    isTrusted: requests.length === 0 || record !== undefined,
  };
}

/** The digest says what the person saw; if the file asks for something else by now, nothing is granted. */
export async function grantTrust(
  core: Using<RecordParts | "access" | "agents" | "host" | "note" | "presets" | "runtimes">,
  { digest, ...project }: RouteBody<"grantTrust">,
  { isInBrowser = false }: Pick<Maker, "isInBrowser"> = {},
): Promise<TrustEntry> {
  if (isInBrowser) {
    const { inputs } = await readLayers(core, project);
    await recorded(core, () => requireBrowserMounts(core, inputs));
  }
  const question = await askTrust(core, project);
  if (question.digest !== digest) throw mismatch(question, digest);
  return recordTrust(core, question);
}

export async function revokeTrust(
  core: Using<"commit" | "event" | "host" | "store">,
  { projectDir, digest }: { projectDir: string; digest?: string | undefined },
): Promise<void> {
  const known = await core.ports.store.listTrust();
  const real = (await core.ports.host.realPath(projectDir)) ?? projectDir;
  const hits = known.filter(
    (entry) => entry.projectDir === real && (digest === undefined || entry.digest === digest),
  );
  if (hits.length === 0) {
    throw new AgentBoxError("file.not_found", `Nothing has been agreed to for ${real}.`, {
      hint: "List what has been: agentbox trust ls",
    });
  }
  await core.commit({
    untrust: { projectDir: real, digest },
    events: [
      core.event("trust.revoked", undefined, {
        projectDir: real,
        digests: hits.map((entry) => entry.digest),
      }),
    ],
  });
}

/** Lets the manifest's requests through only if a person has agreed to them. */
export async function requireTrust(
  core: Using<RecordParts | "access" | "host" | "note">,
  inputs: ManifestInputs,
  agreed: string | undefined,
  { isInBrowser = false }: Pick<Maker, "isInBrowser"> = {},
): Promise<void> {
  await recorded(core, async () => {
    if (isInBrowser) await requireBrowserMounts(core, inputs);
    const { question, refusal } = await decideTrust(core, inputs, agreed);
    if (refusal !== undefined) throw refusal;
    if (question?.isTrusted === false) await recordYes(core, question);
  });
}

/** The yes that came with a request. Without a project it holds for this request alone. */
export async function recordYes(
  core: Using<"clock" | "commit" | "event" | "note">,
  question: TrustQuestion,
): Promise<void> {
  const { projectDir, digest, requests } = question;
  if (projectDir === "") await core.note("trust.granted", undefined, { digest, requests });
  else await recordTrust(core, question);
}

/** The requests of a manifest, if any, and whether a person has agreed to exactly these. Nothing is recorded. */
export async function decideTrust(
  core: Using<"store">,
  inputs: ManifestInputs,
  agreed: string | undefined,
): Promise<{ readonly question?: TrustQuestion; readonly refusal?: AgentBoxError }> {
  const { requests, digest } = trustRequests(inputs);
  if (requests.length === 0) return {};
  const isTrusted = await isAgreed(core, inputs, digest);
  const question: TrustQuestion = {
    projectDir: inputs.projectDir ?? "",
    digest,
    requests: requests.map(({ sentence }) => sentence),
    isTrusted,
  };
  if (isTrusted || agreed === digest) return { question };
  return { question, refusal: agreed === undefined ? notAgreed(question) : mismatch(question, agreed) };
}

const notAgreed = (question: TrustQuestion): AgentBoxError =>
  new AgentBoxError(
    "trust.required",
    `The manifest of ${question.projectDir} asks to ${question.requests.join("; to ")}.`,
    {
      hint: `Agree in a terminal with: agentbox trust, or name the digest: --trust ${question.digest}`,
      facts: { ...question },
    },
  );

/** A person has agreed to exactly this. */
async function recordTrust(
  core: Using<"clock" | "commit" | "event">,
  { projectDir, digest, requests }: TrustQuestion,
): Promise<TrustEntry> {
  const trust = { projectDir, digest, requests, grantedAtMs: core.ports.clock.nowMs() };
  await core.commit({
    trust,
    events: [core.event("trust.granted", undefined, { projectDir, digest, requests })],
  });
  return trust;
}

function mismatch(question: TrustQuestion, agreed: string): AgentBoxError {
  return new AgentBoxError(
    "trust.digest_mismatch",
    `The manifest asks for ${question.digest}, not for ${agreed.slice(0, 80)}.`,
    {
      hint: "Look at what it asks now: agentbox trust",
      facts: { ...question },
    },
  );
}
