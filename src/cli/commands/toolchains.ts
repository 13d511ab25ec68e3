import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import type { ToolchainOffer } from "../../contract/toolchain.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { boxInput } from "../new-box/create-box.ts";
import { toolchainStates } from "../render/plan.ts";
import { renderTable } from "../render/table.ts";

export const run: RunCommand = async (context) => {
  const [verb = "show"] = context.args.positionals;
  const client = await context.connect();
  const project = await projectOf(context);
  const { offers, image } = await findOffers(client, project);
  if (verb === "allow") return allow(context, client, project, offers);
  const { screen } = context;
  if (screen.isJson) screen.printJson({ toolchains: offers, image: image ?? null });
  else screen.print(render(offers, image));
  return 0;
};

type Project = NonNullable<Parameters<Client["checkManifest"]>[0]>;

const projectOf = async (context: CommandContext): Promise<Project> => {
  const { projectDir, manifest, flags } = await boxInput(context, {});
  return { projectDir, flags, ...omitUndefined({ manifest }) };
};

async function findOffers(client: Client, project: Project) {
  const { toolchains = [], summary } = await client.checkManifest(project);
  const { image, packages } = summary?.spec ?? {};
  return { offers: toolchains, image: image ?? (packages === undefined ? undefined : "Debian") };
}

function render(offers: readonly ToolchainOffer[], image: string | undefined): string {
  if (offers.length === 0) return "No file of this project names a toolchain.";
  const rows = offers.map(({ language, wanted, file, state, toolchain }) => [
    language,
    wanted ?? "any",
    file,
    image === undefined
      ? toolchainStates[state]
      : "in the image: [runtime] packages, or a feature of devcontainer.json",
    toolchain === undefined || image !== undefined
      ? ""
      : `${toolchain.version} of ${toolchain.manager}, ${toolchain.path.join(":")}`,
  ]);
  const head = ["LANGUAGE", "WANTED", "BECAUSE OF", "STATE", "TOOLCHAIN"];
  const isWaiting = image === undefined && offers.some(({ state }) => state === "offered");
  const table = renderTable(
    [head, ...rows].map((row) => row.map((cell) => printable(cell))),
    "  ",
  );
  return isWaiting
    ? `${table}\nShow them to boxes: agentbox toolchains allow, or for every project: agentbox toolchains allow --all`
    : table;
}

async function allow(
  { args, screen }: CommandContext,
  client: Client,
  { projectDir, manifest }: Project,
  offers: readonly ToolchainOffer[],
): Promise<number> {
  const digests = offers.flatMap(({ state, digest }) =>
    state === "offered" && digest !== undefined ? [digest] : [],
  );
  if (digests.length === 0) {
    if (screen.isJson) screen.printJson({ entries: [] });
    else screen.print("No toolchain waits for a yes. See: agentbox toolchains");
    return 0;
  }
  if (projectDir === undefined)
    throw new AgentBoxError("input.invalid", "There is no project here.", { hint: "Run it in a project." });
  const forAll = args.isSet("all");
  const { entries } = await client.allowToolchains({
    projectDir,
    digests,
    forAll,
    ...omitUndefined({ manifest }),
  });
  if (screen.isJson) screen.printJson({ entries });
  for (const entry of screen.isJson ? [] : entries)
    for (const request of entry.requests) screen.print(`Agreed: ${printable(request)}`);
  return 0;
}
