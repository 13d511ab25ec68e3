/** The plan of a box as a person reads it. */
import type { ManifestCheck } from "../../contract/api/schemas/forms.ts";
import type { PlannedCommand } from "../../contract/api/schemas/planned-command.ts";
import { isRemediable } from "../../contract/plan.ts";
import type { ToolchainOffer } from "../../contract/toolchain.ts";
import { printable } from "../../base/printable.ts";
import type { Style } from "./style.ts";
import { renderTable } from "./table.ts";

type Plan = Pick<ManifestCheck, "summary" | "toolchains" | "trust" | "problems" | "warnings">;

/** What each state of a toolchain means for a box. */
export const toolchainStates: Readonly<Record<ToolchainOffer["state"], string>> = {
  shown: "boxes have it",
  offered: "after your yes",
  system: "boxes have the one of your system",
  missing: "not on this machine",
};

// SECURITY: all of it quotes a repository, so it must not be able to redraw the terminal.
export function renderPlan(
  { summary, toolchains = [], trust, problems, warnings }: Plan,
  style: Style,
): string {
  const rows = summary === undefined ? [] : rowsOf(summary);
  const asked = (trust?.requests ?? []).map((request) => ["asks to", request] as const);
  const hasImage = summary?.spec.image !== undefined || summary?.spec.packages !== undefined;
  const tools = toolchains.map((offer) => ["toolchain", describeToolchain(offer, hasImage)] as const);
  const table = renderTable(
    [...rows, ...tools, ...asked].map(([name, text]) => [style.dim(name), printable(text)]),
    "  ",
  );
  const shown = problems.map(({ code, message, hint }) => {
    const paint = isRemediable({ code }) ? style.yellow : style.red;
    const what = `${paint(`${isRemediable({ code }) ? "first" : "refused"} ${code}`)}: ${printable(message)}`;
    return hint === undefined ? what : `${what}\n    ${printable(hint)}`;
  });
  const noted = warnings.map((warning) => `${style.yellow("note")}: ${printable(warning)}`);
  return [...(table === "" ? [] : [table]), ...noted, ...shown].join("\n");
}

function rowsOf({
  spec,
  isolation,
  network,
  command,
}: NonNullable<Plan["summary"]>): (readonly [string, string])[] {
  const { agent, model, workspace, runtime, image, packages } = spec;
  const version = agent.version === undefined ? "" : ` ${agent.version}`;
  const root =
    image ?? (packages === undefined ? undefined : `Debian with ${packages.join(", ") || "nothing more"}`);
  return [
    ["agent", `${agent.name}${version}, autonomy ${agent.autonomy}`],
    ...(command === undefined ? [] : [["runs", describeCommand(command)] as const]),
    ...(model === undefined
      ? []
      : [["model", `${model.name ?? "its own choice"} from ${model.provider}`] as const]),
    ["workspace", [workspace.mode, workspace.url ?? workspace.source ?? ""].join(" ").trim()],
    ["runtime", isolation === undefined ? runtime : `${runtime}, tier ${isolation.tier}`],
    ...(root === undefined ? [] : [["image", root] as const]),
    ...network.map(({ verdict, what }) => ["network", `${verdict} ${what}`] as const),
  ];
}

function describeCommand(command: PlannedCommand): string {
  if (command.kind === "none") return "nothing until it is told to";
  if (command.kind === "agent") return command.mode === "headless" ? "its agent on a task" : "its agent";
  return (command.kind === "exec" ? command.argv : command.main.argv).join(" ");
}

/** An image has what its packages bring; a toolchain of the host is of no use there. */
function describeToolchain(
  { language, wanted, file, state, toolchain }: ToolchainOffer,
  hasImage: boolean,
): string {
  const what = [language, wanted].filter(Boolean).join(" ");
  const found = toolchain === undefined ? "" : `: ${toolchain.version} of ${toolchain.manager}`;
  return hasImage
    ? `${what} (${file}), in the image`
    : `${what} (${file}), ${toolchainStates[state]}${found}`;
}
