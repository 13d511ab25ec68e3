import { resolve } from "node:path";
import { printable } from "../../base/printable.ts";
import type { Finding } from "../../manifest/index.ts";
import type { RunCommand } from "../command.ts";
import { getManifest } from "../new-box/find-manifest.ts";
import { readProjectLayers } from "../new-box/project-layers.ts";
import type { Style } from "../render/style.ts";
import { plural } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const { args, screen, cwd, env } = context;
  const named = args.positionals[0];
  const manifest = await getManifest(cwd, env, named === undefined ? undefined : resolve(cwd, named));
  const { findings } = await readProjectLayers(context, manifest);
  const errors = findings.filter((finding) => finding.severity === "error").length;
  if (screen.isJson) screen.printJson({ file: manifest.file, isValid: errors === 0, findings });
  else {
    for (const finding of findings)
      screen.print(renderFinding(printable(manifest.file), finding, screen.style));
    screen.print(verdict(printable(manifest.file), errors, findings.length - errors, screen.style));
  }
  return errors === 0 ? 0 : 1;
};

export function renderFinding(file: string, finding: Finding, style: Style): string {
  const { code, severity, line, column, message, hint } = finding;
  const paint = severity === "error" ? style.red : style.yellow;
  return `${style.dim(`${file}:${line}:${column}:`)} ${paint(`${severity} ${code}`)}: ${printable(message)}\n    ${printable(hint)}`;
}

function verdict(file: string, errors: number, warnings: number, style: Style): string {
  const noted = warnings > 0 ? `, ${plural(warnings, "warning")}` : "";
  return errors === 0
    ? `${style.green("✓")} ${file} is valid${noted}`
    : `${style.red("✗")} ${file}: ${plural(errors, "error")}${noted}`;
}
