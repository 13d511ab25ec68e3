import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { ExplainedKey } from "../../manifest/index.ts";
import type { RunCommand } from "../command.ts";
import { findManifest } from "../new-box/find-manifest.ts";
import { invalidManifest, readProjectLayers } from "../new-box/project-layers.ts";
import type { Style } from "../render/style.ts";
import { renderTable } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const { args, screen, cwd, env } = context;
  const [verb, key] = args.positionals;
  if (verb !== "explain") {
    throw new AgentBoxError("command.unknown", `There is no "agentbox config ${verb}".`, {
      hint: "Did you mean: agentbox config explain",
    });
  }
  const manifest = await findManifest(cwd, env);
  const { layers, findings } = await readProjectLayers(context, manifest);
  const errors = findings.filter((finding) => finding.severity === "error");
  if (manifest && errors.length > 0) throw invalidManifest(manifest.file, errors);
  const { explainKey } = await import("../../manifest/index.ts");
  const explained = explainKey(layers, key!);
  if (screen.isJson) screen.printJson(explained);
  else screen.print(renderExplained(explained, screen.style));
  return 0;
};

const valueText = (value: unknown): string =>
  value === undefined ? "not set" : printable(JSON.stringify(value));

export function renderExplained(key: ExplainedKey, style: Style): string {
  return [
    style.bold(key.key),
    `  ${key.description}`,
    "",
    renderTable(
      [
        ["value", valueText(key.value)],
        ["from", printable(key.source)],
        ["default", valueText(key.default)],
        ["type", key.type],
      ],
      "  ",
    ),
  ].join("\n");
}
