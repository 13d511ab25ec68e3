import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import type { CreateBoxInput } from "../../contract/api/schemas.ts";
import { askText } from "../render/ask.ts";
import type { CommandContext } from "../command.ts";

/**
 * Asks a person at a terminal about toolchains of their home that the project uses and that boxes do not see yet. A no
 * makes the box without them.
 */
export async function offerToolchains(
  { screen, args }: Pick<CommandContext, "screen" | "args">,
  client: Client,
  input: CreateBoxInput,
): Promise<void> {
  const { projectDir, manifest } = input;
  if (!screen.isInteractive || screen.isJson || args.isSet("quiet") || projectDir === undefined) return;
  const { toolchains = [] } = await client.checkManifest(input);
  const offered = toolchains.flatMap(({ state, digest, toolchain, file }) =>
    state === "offered" && digest !== undefined && toolchain !== undefined
      ? [{ digest, toolchain, file }]
      : [],
  );
  if (offered.length === 0) return;
  screen.note(
    screen.errorStyle.bold(
      "This project uses toolchains of your home, which boxes do not see without your yes:",
    ),
  );
  // SECURITY: names of files and versions; a repository must not be able to redraw the question.
  for (const { toolchain, file } of offered)
    screen.note(
      `  ${screen.errorStyle.yellow("•")} ${printable(`${toolchain.language} ${toolchain.version} of ${toolchain.manager}, because of ${file}: ${toolchain.directories[0]?.target ?? ""}`)}`,
    );
  const answer = await askText(
    screen,
    "Show them, read-only? yes for this project, all for every project:",
    "no",
  );
  const forAll = /^all?$/i.test(answer);
  if (!forAll && !/^y(es)?$/i.test(answer)) return;
  const digests = offered.map(({ digest }) => digest);
  await client.allowToolchains({
    projectDir,
    digests,
    forAll,
    ...omitUndefined({ manifest }),
  });
}
