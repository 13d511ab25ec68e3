/** Solves problems before a box is made: installs a missing agent, builds a missing image. */
import { AgentBoxError, isAgentBoxError } from "../../../src/base/errors.ts";
import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import type { PlannedInput } from "../../../src/client/plan-problems.ts";
import type { CreateBoxInput, CreatedBox } from "../../../src/contract/api/schemas.ts";
import { isRemediable, problemsOf, refusalOf } from "../../../src/contract/plan.ts";
import { client } from "../api/client.ts";

export interface Step {
  readonly key: string;
  readonly title: string;
  readonly detail?: string | undefined;
  readonly isDone: boolean;
}

export type Report = (step: Step) => void;

async function install(facts: AgentBoxError["facts"], report: Report, signal: AbortSignal): Promise<void> {
  const {
    agent = "",
    version,
    digest,
  } = (facts ?? {}) as { agent?: string; version?: string; digest?: string };
  const step = { key: "install", title: `Installing ${agent}` };
  report({ ...step, isDone: false });
  const what = {
    // A version that only this project wants does not become that of every other.
    keepPin: true,
    ...omitUndefined({ version, digest }),
  };
  for await (const line of client.installAgent(agent, what, signal)) {
    if (line.type === "error") throw AgentBoxError.fromBody(line.error);
    if (line.type === "done") return report({ ...step, title: `Installed ${agent}`, isDone: true });
    report({ ...step, detail: line.message, isDone: false });
  }
  throw new AgentBoxError("tool.install_failed", `The daemon went away while it installed ${agent}.`);
}

async function build(request: CreateBoxInput, report: Report, signal: AbortSignal): Promise<void> {
  const { projectDir, manifest, flags, trust } = request;
  const step = { key: "build", title: "Building the image" };
  report({ ...step, isDone: false });
  const what = JSON.parse(JSON.stringify({ projectDir, manifest, flags, trust })) as object;
  for await (const line of client.buildImage(what, signal)) {
    if (line.type === "error") throw AgentBoxError.fromBody(line.error);
    if (line.type === "done") return report({ ...step, title: "Built the image", isDone: true });
    report({ ...step, detail: line.message, isDone: false });
  }
  throw new AgentBoxError("image.build_failed", "The daemon went away while it built the image.");
}

export async function create(
  request: CreateBoxInput,
  report: Report,
  signal: AbortSignal,
  tried: readonly string[] = [],
): Promise<CreatedBox> {
  try {
    return await client.createBox(request);
  } catch (error) {
    const isSolvable =
      isAgentBoxError(error) && error.code !== "trust.required" && problemsOf(error).every(isRemediable);
    if (!isSolvable || tried.includes(error.code)) throw error;
    if (error.code === "tool.not_installed") await install(error.facts, report, signal);
    else await build(request, report, signal);
    return create(request, report, signal, [...tried, error.code]);
  }
}

/** Solves what stands between a plan and its box; a question of trust is a person's to answer first. */
export async function solve(
  { input, problems }: PlannedInput,
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  if (problems.some(({ code }) => code === "trust.required")) throw refusalOf(problems);
  for (const { code, facts } of problems)
    await (code === "tool.not_installed" ? install(facts, report, signal) : build(input, report, signal));
}
