import { AgentBoxError } from "../../base/errors.ts";
import type { AfterMain } from "../../contract/api/schemas.ts";
import { boxPaths, type Box } from "../../contract/box.ts";
import type { StreamOp } from "../../contract/link/messages.ts";
import type { BoxLink, LinkStream } from "../../ports/link.ts";
import { requirePhase } from "../box/box-phases.ts";
import type { LookParts, Using } from "../using.ts";
import { execInBox } from "./exec-in-box.ts";
import { removeLocked } from "../removal/remove-box.ts";
import { halt, keepWork } from "../box/stop-box.ts";

const reconnectMs = 10_000;
/** As many hosts as a person reads; all of them are in `agentbox net`. */
const maxDeniedHosts = 100;

/** The link of a running box; right after a restart of the daemon it waits for boxd to dial in again. */
export async function getLink(
  core: Using<"getBox" | "live">,
  name: string,
): Promise<{ box: Box; link: BoxLink }> {
  const box = await core.getBox(name);
  requirePhase(box, "running");
  const live = core.live.get(name);
  if (!live) {
    throw new AgentBoxError("box.unreachable", `The box "${name}" is running but is not connected.`, {
      hint: `Start it again: agentbox restart ${name}`,
    });
  }
  await live.link.waitConnected(reconnectMs);
  return { box, link: live.link };
}

export async function openStream(
  core: Using<"getBox" | "live">,
  name: string,
  op: StreamOp,
): Promise<{ box: Box; stream: LinkStream }> {
  const { box, link } = await getLink(core, name);
  return { box, stream: await link.open(op) };
}

/** The command a box was made for has ended: whether the box is kept, and which hosts it was denied. The clean-up goes on behind. */
export async function afterMain(
  core: Using<LookParts | "egressLog" | "report">,
  box: Box,
  rule: AfterMain,
  exitCode: number | undefined,
): Promise<{ isKept: boolean; deniedHosts: readonly string[] }> {
  await core.egressLog.flush();
  const totals = await core.ports.store.sumEgress(box.name, box.incarnation);
  const deniedHosts = totals.filter(({ denials }) => denials > 0).map(({ host }) => host);
  const isKept = rule === "keep" || (rule === "remove_if_unchanged" && (await hasChanges(core, box.name)));
  const finishing = core.locked(box.name, async () => {
    const current = await core.ports.store.findBox(box.name);
    if (!current || current.incarnation !== box.incarnation) return;
    if (!isKept) {
      // An unchanged workspace leaves nothing to keep.
      await removeLocked(core, current, "finished", { force: true, keep: rule === "remove" });
    } else if (current.state.phase === "running") {
      await keepWork(core, current);
      await halt(core, current, {
        reason: "finished",
        graceMs: current.spec.lifecycle.stopGraceMs,
        exitCode,
      });
    }
  });
  core.background(`finishing ${box.name}`, finishing);
  // Files that a box needs in the user's own directory are gone when the prompt is back.
  if (box.spec.workspace.mode === "mount") await finishing.catch(() => undefined);
  return { isKept, deniedHosts: [...new Set(deniedHosts)].slice(0, maxDeniedHosts) };
}

/**
 * Whether anything in the workspace is newer than the box. It is asked inside the box, so the host reads nothing
 * that the box controls. When in doubt the answer is yes: work is never thrown away.
 */
async function hasChanges(core: Using<"getBox" | "live">, name: string): Promise<boolean> {
  try {
    const { code, stdout } = await captureExec(core, name, ["sh", "-c", listNewer]);
    return code !== 0 || stdout !== "";
  } catch {
    return true;
  }
}

/** git refreshes its index without changing anything; HEAD and the refs say whether there are commits. */
const listNewer = `find ${boxPaths.workspace} -name .git -prune -o -newercm ${boxPaths.sealed} -print -quit || exit 1
cd ${boxPaths.workspace}/.git 2>/dev/null || exit 0
find HEAD refs -newercm ${boxPaths.sealed} -print -quit`;

/** Runs a short command in a running box. */
export async function captureExec(
  core: Using<"getBox" | "live">,
  name: string,
  argv: string[],
): Promise<{ code: number | null; stdout: string }> {
  const { link } = await getLink(core, name);
  return execInBox(link, { argv, timeoutMs: 10_000 });
}
