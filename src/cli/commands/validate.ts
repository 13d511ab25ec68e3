import { resolve } from "node:path";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { Finding } from "../../manifest/index.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { hostVariables } from "../new-box/create-box.ts";
import { type FoundManifest, getManifest } from "../new-box/find-manifest.ts";
import { readProjectLayers } from "../new-box/project-layers.ts";
import { renderPlan } from "../render/plan.ts";
import type { Style } from "../render/style.ts";
import { plural } from "../render/table.ts";

/** The exit code is about the file alone: what this host lacks is told with the plan, and is no fault of the manifest. */
export const run: RunCommand = async (context) => {
  const { args, screen, cwd, env } = context;
  const named = args.positionals[0];
  const manifest = await getManifest(cwd, env, named === undefined ? undefined : resolve(cwd, named));
  const { findings } = await readProjectLayers(context, manifest);
  const errors = findings.filter((finding) => finding.severity === "error").length;
  // A file that breaks a rule gives no plan, so the daemon is not asked.
  const plan = errors === 0 ? await planOf(context, manifest) : undefined;
  if (screen.isJson) screen.printJson({ file: manifest.file, isValid: errors === 0, findings, ...plan });
  else {
    for (const finding of findings)
      screen.print(renderFinding(printable(manifest.file), finding, screen.style));
    screen.print(summary(printable(manifest.file), errors, findings.length - errors, screen.style));
    if (plan !== undefined) screen.print(renderPlan({ warnings: [], ...plan }, screen.style));
  }
  return errors === 0 ? 0 : 1;
};

/** The plan that a box of this file would have on this host now. */
async function planOf(context: CommandContext, { file, text, dir }: FoundManifest) {
  const client = await context.connect();
  const { summary, toolchains, trust, problems } = await client.checkManifest({
    projectDir: dir,
    manifest: { file, text },
    variables: await hostVariables(context, text),
  });
  return { summary, trust, problems, ...omitUndefined({ toolchains }) };
}

export function renderFinding(file: string, finding: Finding, style: Style): string {
  const { code, severity, line, column, message, hint } = finding;
  const paint = severity === "error" ? style.red : style.yellow;
  return `${style.dim(`${file}:${line}:${column}:`)} ${paint(`${severity} ${code}`)}: ${printable(message)}\n    ${printable(hint)}`;
}

function summary(file: string, errors: number, warnings: number, style: Style): string {
  const noted = warnings > 0 ? `, ${plural(warnings, "warning")}` : "";
  return errors === 0
    ? `${style.green("✓")} ${file} is valid${noted}`
    : `${style.red("✗")} ${file}: ${plural(errors, "error")}${noted}`;
}
