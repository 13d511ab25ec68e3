/**
 * Removes what a box has left. The tree is the box's work and may be hostile: links to anywhere, closed
 * directories, thousands of levels, any name the file system takes.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { pathKind } from "../../host/files.ts";
import { run } from "../../host/run.ts";

const attempts = 3;
const timeoutMs = 10 * 60_000;

export async function removeBoxTree(path: string): Promise<void> {
  let reason = "";
  for (let i = 0; i < attempts; i++) {
    // SECURITY: rm walks by open directories and never through a link, so a swapped directory leads nowhere; it
    // stays on one file system, so a mount that should not be here is not emptied.
    const { stderr } = await run(["rm", "-rf", "--one-file-system", "--", path], { timeoutMs });
    if ((await pathKind(path)) === undefined) return;
    reason = stderr.trim().split("\n").at(-1) ?? "";
    // A box may close its directories to its own uid, which is ours when a person runs the daemon.
    await run(["chmod", "-R", "u+rwx", "--", path], { timeoutMs, maxOutputBytes: 4096 });
  }
  throw new AgentBoxError("file.failed", `The files of a box could not be removed: ${reason || path}`, {
    hint: "Look whether a process still writes there, then try again.",
    facts: { path },
  });
}
