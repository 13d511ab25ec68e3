/** What making a box would say, without making it: every stage of `createBox` that only looks. */
import { AgentBoxError, toAgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { ManifestCheck } from "../../contract/api/schemas/forms.ts";
import type { RouteBody } from "../../contract/api/routes.ts";
import type { BoxSpec, Isolation } from "../../contract/box.ts";
import { type Finding, parseFlags, parseManifest, renderManifest } from "../../manifest/index.ts";
import { pinAgent } from "../agents/pin-agent.ts";
import { proposeName, requireBoxName } from "../box/box-names.ts";
import type { Core } from "../context.ts";
import { findEnforceable } from "../box/create-box.ts";
import { type FoundProject, findProject } from "../manifest/find-project.ts";
import { manifestDigest } from "../images/build-image.ts";
import { useImage } from "../images/use-image.ts";
import type { ResolvePlaces } from "../trust/mount-requests.ts";
import { compileFor } from "../network/compile-for.ts";
import { describePolicy } from "../network/describe-policy.ts";
import { requireBrowserMounts, requireBrowserProject } from "../trust/own-places.ts";
import { readLayers, readOwnLayers } from "../manifest/read-layers.ts";
import { resolveManifest } from "../manifest/resolve-manifest.ts";
import { trustRequests } from "../trust/trust-requests.ts";
import { isAgreed } from "../trust/is-agreed.ts";

type Draft = RouteBody<"checkManifest"> & { readonly isRequest?: boolean; readonly isInBrowser?: boolean };
type CheckFinding = ManifestCheck["findings"][number];

/** Refusals are part of the answer, so that a form can show all of them at once. */
export async function checkManifest(core: Core, draft: Draft): Promise<ManifestCheck> {
  const problems: AgentBoxError[] = [];
  const tried = async <T>(stage: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await stage();
    } catch (error) {
      problems.push(toAgentBoxError(error));
      return undefined;
    }
  };
  await core.ports.refreshAgents();
  const { name, flags = {} } = draft;
  if (name !== undefined) await tried(() => requireFreeName(core, name));
  const toml = renderForm(flags);
  const form = (await tried(() => checkForm(core, flags, toml))) ?? [];
  const project = await tried(() => projectOf(core, draft));
  const isFormUsable = !form.some(({ severity }) => severity === "error");
  const read = isFormUsable
    ? await tried(() => readLayers(core, { ...sourcesOf(project), flags, isRequest: draft.isRequest }))
    : undefined;
  const ofFile = problems.flatMap(findingsOf);
  const planned = read && (await planBox(core, read.places, { project, tried, ...draft }));
  return {
    findings: [...form, ...ofFile],
    problems: problems
      .filter((problem) => findingsOf(problem).length === 0)
      .map((problem) => problem.toBody()),
    warnings: [...(read?.warnings ?? [])],
    toml,
    ...omitUndefined({ project, trust: planned?.trust }),
    ...(planned?.spec === undefined || read === undefined
      ? {}
      : {
          summary: {
            name: name ?? (await nameFor(core, planned.spec, read.places.projectDir)),
            spec: planned.spec,
            ...omitUndefined({ isolation: planned.isolation }),
            network: describePolicy(compileFor(read.places)),
          },
        }),
  };
}

const sourcesOf = (project: FoundProject | undefined): Pick<Draft, "projectDir" | "manifest"> =>
  project === undefined
    ? {}
    : {
        projectDir: project.dir,
        ...(project.manifest === undefined ? {} : { manifest: { ...project.manifest } }),
      };

async function projectOf(core: Core, { projectDir, manifest }: Draft): Promise<FoundProject | undefined> {
  if (projectDir === undefined) return undefined;
  return manifest === undefined ? findProject(core, projectDir) : { dir: projectDir, manifest };
}

async function requireFreeName(core: Core, name: string): Promise<void> {
  requireBoxName(name);
  if ((await core.ports.store.findBox(name)) === undefined) return;
  throw new AgentBoxError("box.name_taken", `A box named "${name}" exists already.`, {
    hint: "Choose another name.",
    facts: { box: name },
  });
}

async function nameFor(core: Core, { agent }: BoxSpec, projectDir: string | undefined): Promise<string> {
  const taken = new Set((await core.ports.store.listBoxes()).map((box) => box.name));
  return proposeName(projectDir?.split("/").at(-1), agent.name, (name) => taken.has(name));
}

const isTable = (value: unknown): value is object => typeof value === "object" && value !== null;

/** What has no form at all is left out here; the check of the flags names it. */
const renderForm = (flags: Readonly<Record<string, unknown>>): string =>
  renderManifest(Object.fromEntries(Object.entries(flags).filter(([, section]) => isTable(section))));

/** All that is wrong, each at its place; `parseFlags`, which the box is made with, stops at the first. */
async function checkForm(
  core: Core,
  flags: Readonly<Record<string, unknown>>,
  toml: string,
): Promise<CheckFinding[]> {
  const { presets, clock } = core.ports;
  const { context } = await readOwnLayers(core);
  const known = { ...context, presets: presets.names, nowMs: clock.nowMs() };
  const { findings } = parseManifest(toml, { ...known, file: "agentbox.toml" });
  const found = findings.map((finding) => ({ in: "form" as const, ...finding }));
  if (found.some(({ severity }) => severity === "error")) return found;
  try {
    parseFlags(flags, context);
    return found;
  } catch (error) {
    return [...found, asFinding(toAgentBoxError(error))];
  }
}

const textOf = (fact: unknown): string | undefined => (typeof fact === "string" ? fact : undefined);

const asFinding = ({ message, hint, facts }: AgentBoxError): CheckFinding => ({
  in: "form",
  code: textOf(facts?.["rule"]) ?? "E001",
  severity: "error",
  path: textOf(facts?.["key"]) ?? "",
  line: 1,
  column: 1,
  message,
  hint: hint ?? "Correct it.",
});

/** The findings of a file that cannot be used, from the refusal that carries them. */
function findingsOf({ code, facts }: AgentBoxError): CheckFinding[] {
  if (code !== "manifest.invalid" || !Array.isArray(facts?.["findings"])) return [];
  const file = textOf(facts["file"]) ?? "";
  return (facts["findings"] as Finding[]).map((finding) => ({ in: "file", file, ...finding }));
}

interface Planned {
  readonly trust?: ManifestCheck["trust"];
  readonly spec?: BoxSpec | undefined;
  readonly isolation?: Isolation | undefined;
}

type Tried = <T>(stage: () => T | Promise<T>) => Promise<T | undefined>;

interface Planning extends Pick<Draft, "isInBrowser"> {
  readonly project: FoundProject | undefined;
  readonly tried: Tried;
}

/** Later stages are tried even if an earlier one says no: whoever fills in the form wants to know all of it. */
async function planBox(
  core: Core,
  places: ResolvePlaces,
  { project, tried, isInBrowser }: Planning,
): Promise<Planned> {
  const { agents, workspaces } = core.ports;
  const { projectDir } = places;
  const trust = await tried(() => questionOf(core, places));
  const asked = await tried(async () =>
    resolveManifest({
      ...places,
      agents,
      // Values of the host's variables are where a command is typed, and nobody typed one.
      hostEnv: () => undefined,
      defaultMode: projectDir === undefined ? "empty" : await workspaces.defaultMode(projectDir),
    }),
  );
  if (asked === undefined) return { trust };
  if (isInBrowser === true) {
    await tried(() => requireBrowserProject(core, projectDir, asked.workspace));
    await tried(() => requireBrowserMounts(core, places));
  }
  const spec = (await tried(() => pinAgent(core, asked, projectDir))) ?? asked;
  const isolation = await tried(async () => {
    const found = await findEnforceable(core, spec);
    if (found.refusal) throw found.refusal;
    return found.isolation;
  });
  if (isolation === undefined) return { trust, spec };
  const manifest = project?.manifest && { ...project.manifest };
  await tried(() =>
    useImage(core, spec, isolation, { projectDir, manifestDigest: manifestDigest({ manifest }) }),
  );
  return { trust, spec, isolation };
}

async function questionOf(core: Core, places: ResolvePlaces): Promise<ManifestCheck["trust"]> {
  const { requests, digest } = trustRequests(places);
  if (requests.length === 0) return undefined;
  return {
    projectDir: places.projectDir ?? "",
    digest,
    requests: requests.map(({ sentence }) => sentence),
    isTrusted: await isAgreed(core, places, digest),
  };
}
