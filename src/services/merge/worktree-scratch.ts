/** The room for one repository, with what decides how its files are written: attributes and the sparse selection. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { GitConfig } from "../../host/git.ts";
import type { DaemonUser } from "./person.ts";
import { ScratchRepository } from "./scratch-repository.ts";
import type { MergeTarget } from "./target.ts";

export async function openScratchFor(
  { repository, person, settings }: MergeTarget,
  { tempDir }: DaemonUser,
): Promise<ScratchRepository> {
  const { gitDir, commonDir } = repository;
  const config: GitConfig = {
    ...settings.config,
    // An index in parts would leave one part in the room when the room goes.
    "core.splitIndex": "false",
    "core.untrackedCache": "false",
    "feature.manyFiles": "false",
    "rerere.enabled": "false",
    "merge.renormalize": "false",
  };
  const scratch = await ScratchRepository.open({
    borrows: join(commonDir, "objects"),
    isSha256: settings.isSha256,
    person,
    config,
    tempDir,
  });
  await scratch.copyIn(join(commonDir, "info/attributes"), "info/attributes");
  if (settings.config["core.sparsecheckout"] === "true")
    await scratch.copyIn(join(gitDir, "info/sparse-checkout"), "info/sparse-checkout");
  const shared = (await readdir(gitDir)).filter((name) => /^sharedindex\.[0-9a-f]+$/.test(name));
  for (const name of shared) await scratch.copyIn(join(gitDir, name), name);
  return scratch;
}
