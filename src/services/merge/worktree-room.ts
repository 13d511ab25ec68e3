/** The room for one repository, with what decides how its files are written: attributes and the sparse selection. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { GitConfig } from "../../host/git.ts";
import type { DaemonPlace } from "./person.ts";
import { MergeRoom } from "./room.ts";
import type { MergeTarget } from "./target.ts";

export async function openRoomFor(
  { repository, person, settings }: MergeTarget,
  { tempDir }: DaemonPlace,
): Promise<MergeRoom> {
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
  const room = await MergeRoom.open({
    borrows: join(commonDir, "objects"),
    isSha256: settings.isSha256,
    person,
    config,
    tempDir,
  });
  await room.copyIn(join(commonDir, "info/attributes"), "info/attributes");
  if (settings.config["core.sparsecheckout"] === "true")
    await room.copyIn(join(gitDir, "info/sparse-checkout"), "info/sparse-checkout");
  const shared = (await readdir(gitDir)).filter((name) => /^sharedindex\.[0-9a-f]+$/.test(name));
  for (const name of shared) await room.copyIn(join(gitDir, name), name);
  return room;
}
