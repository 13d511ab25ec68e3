import { posix } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { boxPaths } from "../../contract/box-paths.ts";

export type CopyEnd =
  | { readonly kind: "host"; readonly path: string }
  | { readonly kind: "box"; readonly box: string; readonly path: string };

/** `BOX:path`; a path in a box starts at its workspace. `./a:b` is a file of the host. */
export function parseCopyEnd(text: string): CopyEnd {
  const match = /^([a-z][a-z0-9-]*):(.*)$/s.exec(text);
  if (!match) return { kind: "host", path: text };
  const [, box, path] = match;
  return { kind: "box", box: box!, path: posix.resolve(boxPaths.workspace, path!) };
}

export interface CopyPlan {
  readonly direction: "in" | "out";
  readonly box: string;
  readonly boxPath: string;
  readonly hostPath: string;
}

export function planCopy(source: string, destination: string): CopyPlan {
  const from = parseCopyEnd(source);
  const to = parseCopyEnd(destination);
  if (from.kind === "box" && to.kind === "host")
    return { direction: "out", box: from.box, boxPath: from.path, hostPath: to.path };
  if (from.kind === "host" && to.kind === "box")
    return { direction: "in", box: to.box, boxPath: to.path, hostPath: from.path };
  throw new AgentBoxError("input.invalid", "Exactly one side of a copy is in a box.", {
    hint: "Write BOX:PATH for the side in the box; write ./name for a host file with a colon.",
  });
}
