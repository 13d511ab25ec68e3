import { formatBytes } from "../../base/bytes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { suggest } from "../../base/suggest.ts";
import type { ImageInfo } from "../../contract/image.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import type { Style } from "../render/style.ts";
import { renderTable } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const [verb = "ls", ...words] = context.args.positionals;
  const action = Object.hasOwn(actions, verb) ? actions[verb as keyof typeof actions] : undefined;
  if (action) return action(context, words);
  throw new AgentBoxError("command.unknown", `There is no "agentbox images ${verb}".`, {
    hint: `Did you mean: agentbox images ${suggest(verb, Object.keys(actions)) ?? "ls"}`,
  });
};

async function list({ screen, connect }: CommandContext): Promise<number> {
  const images = await (await connect()).listImages();
  if (screen.isJson) screen.printJson({ images });
  else if (images.length === 0) screen.print("No image has been built here. Build one: agentbox build");
  else screen.print(renderImages(images, screen.style));
  return 0;
}

async function remove({ screen, connect }: CommandContext, words: readonly string[]): Promise<number> {
  const [name, ...others] = words;
  if (name === undefined || others.length > 0) {
    throw new AgentBoxError("input.invalid", "Name one image.", { hint: "Usage: agentbox images rm NAME" });
  }
  const { image } = await (await connect()).removeImage({ name });
  if (screen.isJson) screen.printJson({ image });
  else screen.print(`Removed ${image.reference}.`);
  return 0;
}

async function prune({ args, screen, connect }: CommandContext): Promise<number> {
  const answer = await (await connect()).pruneImages({ isDryRun: args.isSet("dry-run") });
  if (screen.isJson) screen.printJson(answer);
  else if (answer.removed.length === 0) screen.print("Every image is used.");
  else {
    const verb = args.isSet("dry-run") ? "Would remove" : "Removed";
    const freed = args.isSet("dry-run") ? "" : ` (${formatBytes(answer.freedBytes)} of layers)`;
    screen.print(`${verb} ${answer.removed.join(", ")}${freed}.`);
  }
  return 0;
}

const actions = { ls: list, rm: remove, prune } as const;

function renderImages(images: readonly ImageInfo[], style: Style): string {
  const rows = images.map(({ reference, agent, base, packages, bytes, projectDir }) => [
    style.bold(reference),
    printable(agent),
    printable(base),
    packages.length === 0 ? style.dim("-") : packages.join(" "),
    formatBytes(bytes),
    style.dim(printable(projectDir ?? "-")),
  ]);
  return renderTable([["IMAGE", "AGENT", "BASE", "PACKAGES", "SIZE", "PROJECT"].map(style.dim), ...rows]);
}
