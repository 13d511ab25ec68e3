/**
 * Exceptions that this engine would take and not give are refused before anything is made: a box never has less than
 * it is shown to have, and never more than what can be granted at all.
 */
import { stat } from "node:fs/promises";
import { AgentBoxError } from "../../../base/errors.ts";
import type { BoxOwner } from "../../../contract/box.ts";
import { isGrantableCapability, isGrantableDevice } from "../../../contract/grantable.ts";
import type { EngineFacts } from "../../../host/engine/facts.ts";
import type { RuntimeBox } from "../../../ports/runtime.ts";

export interface DeviceFile {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}
type Look = (path: string) => Promise<DeviceFile | undefined>;

export interface ExceptionContext {
  readonly facts: Pick<EngineFacts, "kind">;
  /** Another OCI runtime than the engine's own. */
  readonly ociRuntime?: string | undefined;
  readonly look?: Look;
}

const lookAt: Look = (path) => stat(path).catch(() => undefined);

export async function refuseUnusable(
  { exceptions = [], owner }: Pick<RuntimeBox, "exceptions" | "owner">,
  { facts, ociRuntime, look = lookAt }: ExceptionContext,
): Promise<void> {
  for (const { devices, capabilities, gpus } of exceptions) {
    if (ociRuntime !== undefined && devices.length + capabilities.length + gpus > 0)
      throw unsupported(`${ociRuntime} gives a box no devices or capabilities`, "Use --runtime docker.");
    for (const name of capabilities) refuseCapability(name, facts);
    for (const path of devices) await refuseDevice(path, owner, look);
  }
}

function refuseCapability(name: string, { kind }: Pick<EngineFacts, "kind">): void {
  // SECURITY: checked where the manifest is read, too; all other callers are refused here.
  if (!isGrantableCapability(name))
    throw unsupported(`the capability ${name} is never given to a box`, "Remove it.");
  // Docker closes it to all but root, and a box is never root.
  if (kind === "docker")
    throw unsupported(
      `Docker gives the capability ${name} to root alone, which no box is`,
      "Use Podman, or do without it.",
    );
}

async function refuseDevice(path: string, { uid, gid }: BoxOwner, look: Look): Promise<void> {
  if (!isGrantableDevice(path)) throw unsupported(`${path} is never given to a box`, "Remove it.");
  const file = await look(path);
  if (file === undefined) throw unsupported(`this host has no ${path}`, "Remove it, or load its driver.");
  const bits = file.uid === uid ? file.mode >> 6 : file.gid === gid ? file.mode >> 3 : file.mode;
  if ((bits & 0o6) === 0o6) return;
  throw unsupported(
    `the box's user ${uid} may not open ${path} on this host`,
    `Let everybody open it, if that is what you want: chmod o+rw ${path}`,
  );
}

const unsupported = (what: string, hint: string): AgentBoxError =>
  new AgentBoxError("runtime.unsupported", `The box cannot be made as asked: ${what}.`, { hint });
