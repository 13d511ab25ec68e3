/** restore: removed boxes whose work is kept, and the way to bring one back. */
import { printable } from "../../base/printable.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { RemovedBox } from "../../contract/review/removed.ts";
import { unmergedWords } from "../../contract/review/unmerged-words.ts";
import type { RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import { age, renderTable, shorten } from "../render/table.ts";

export const run: RunCommand = async ({ args, screen, connect }) => {
  const client = await connect();
  const [name] = args.positionals;
  if (name === undefined) {
    const removed = await client.listRemoved();
    if (screen.isJson) screen.printJson({ removed });
    else screen.print(renderRemoved(removed, Date.now()));
    return 0;
  }
  const { box } = await withProgress(screen, `Restoring ${name}`, () =>
    client.restoreRemoved(name, omitUndefined({ as: args.text("as") })),
  );
  if (screen.isJson) screen.printJson({ box });
  else {
    screen.print(`restored ${box.name}, stopped`);
    screen.note(`review: agentbox diff ${box.name}   go on: agentbox start ${box.name}`);
  }
  return 0;
};

export function renderRemoved(removed: readonly RemovedBox[], nowMs: number): string {
  if (removed.length === 0) return "No removed box is kept.";
  const table = renderTable([
    ["NAME", "AGENT", "REMOVED", "KEPT FOR", "UNMERGED", "TASK"],
    ...removed.map(({ name, agent, removedAtMs, expiresAtMs, unmerged, task = "-" }) => [
      name,
      agent,
      `${age(removedAtMs, nowMs)} ago`,
      age(nowMs, expiresAtMs + 3_600_000),
      unmerged.files === 0 ? "nothing" : unmergedWords(unmerged),
      shorten(printable(task.split("\n", 1)[0] ?? ""), 48),
    ]),
  ]);
  return `${table}\n\nBring one back: agentbox restore ${removed[0]?.name ?? "NAME"}`;
}
