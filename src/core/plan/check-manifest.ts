/** The plan of a box as a form is shown it: with the findings of the form and of the project's file. */
import { type AgentBoxError, toAgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { ManifestCheck } from "../../contract/api/schemas/forms.ts";
import type { BoxSpec } from "../../contract/box.ts";
import type { RouteBody } from "../../contract/api/routes.ts";
import { type Finding, parseFlags, parseManifest, renderManifest } from "../../manifest/index.ts";
import { proposeName } from "../box/box-names.ts";
import type { PlanParts, Using } from "../using.ts";
import { type FoundProject, findProject } from "../manifest/find-project.ts";
import { describePolicy } from "../network/describe-policy.ts";
import { planFor } from "./plan-box.ts";
import { Problems } from "./problems.ts";
import { readOwnLayers } from "../manifest/read-layers.ts";

type Draft = Partial<RouteBody<"checkManifest">> & {
  readonly isRequest?: boolean;
  readonly isInBrowser?: boolean;
};
type CheckFinding = ManifestCheck["findings"][number];

/** Refusals are part of the answer, so that a form can show all of them at once. */
export async function checkManifest(core: Using<PlanParts | "clock">, draft: Draft): Promise<ManifestCheck> {
  await core.ports.refreshAgents();
  const { name, flags = {} } = draft;
  const problems = new Problems();
  const toml = renderForm(flags);
  const form = (await problems.attempt(() => checkForm(core, flags, toml))) ?? [];
  const project = await problems.attempt(() => projectOf(core, draft));
  const isFormUsable = !form.some(({ severity }) => severity === "error");
  // A form that cannot be read plans nothing, but what lies in the project is checked all the same.
  const plan = await planFor(core, {
    ...draft,
    ...sourcesOf(project),
    flags: isFormUsable ? flags : undefined,
    makes: "box",
  });
  for (const problem of plan.problems) problems.add(problem);
  const { spec, isolation, network, trust, command } = plan;
  const isPlanned = isFormUsable && spec !== undefined && network !== undefined;
  return {
    findings: [...form, ...problems.list.flatMap(findingsOf)],
    problems: problems.list
      .filter((problem) => findingsOf(problem).length === 0)
      .map((problem) => problem.toBody()),
    warnings: [...plan.warnings],
    toml,
    ...omitUndefined({ project, trust }),
    ...(plan.toolchains === undefined ? {} : { toolchains: [...plan.toolchains] }),
    ...(isPlanned
      ? {
          summary: {
            name: name ?? (await nameFor(core, spec, plan.projectDir)),
            spec,
            network: describePolicy(network),
            ...omitUndefined({ isolation, command }),
          },
        }
      : {}),
  };
}

const sourcesOf = (project: FoundProject | undefined): Pick<Draft, "projectDir" | "manifest"> =>
  project === undefined
    ? {}
    : {
        projectDir: project.dir,
        ...(project.manifest === undefined ? {} : { manifest: { ...project.manifest } }),
      };

async function projectOf(
  core: Using<"host">,
  { projectDir, manifest }: Draft,
): Promise<FoundProject | undefined> {
  if (projectDir === undefined) return undefined;
  return manifest === undefined ? findProject(core, projectDir) : { dir: projectDir, manifest };
}

async function nameFor(
  core: Using<"store">,
  { agent }: BoxSpec,
  projectDir: string | undefined,
): Promise<string> {
  const taken = new Set((await core.ports.store.listBoxes()).map((box) => box.name));
  return proposeName(projectDir?.split("/").at(-1), agent.name, (name) => taken.has(name));
}

const isTable = (value: unknown): value is object => typeof value === "object" && value !== null;

/** A value of a wrong form is left out here; the check of the flags reports it. */
const renderForm = (flags: Readonly<Record<string, unknown>>): string =>
  renderManifest(Object.fromEntries(Object.entries(flags).filter(([, section]) => isTable(section))));

/** All problems, each with its path; `parseFlags`, which the box is made with, stops at the first. */
async function checkForm(
  core: Using<"agents" | "clock" | "host" | "presets" | "runtimes">,
  flags: Readonly<Record<string, unknown>>,
  toml: string,
): Promise<CheckFinding[]> {
  const { presets, clock } = core.ports;
  const { context } = await readOwnLayers(core);
  const known = { ...context, presets: [...presets.names, ...presets.aliases], nowMs: clock.nowMs() };
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
