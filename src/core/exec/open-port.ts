import { AgentBoxError } from "../../base/errors.ts";
import type { LinkStream } from "../../ports/link.ts";
import type { Using } from "../using.ts";
import { openStream } from "./run-in-box.ts";

/**
 * Bytes to and from a port on a box's own loopback, through its link. SECURITY: the host itself connects to nothing, so no
 * port and no name can make it reach its own network. Another box that has taken the name since is not meant.
 */
export async function openPort(
  core: Using<"getBox" | "live">,
  { box: name, incarnation, port }: { box: string; incarnation: string; port: number },
): Promise<LinkStream> {
  if ((await core.getBox(name)).incarnation !== incarnation)
    throw new AgentBoxError("box.not_found", `The box "${name}" is another one by now.`);
  return (await openStream(core, name, { kind: "port.open", port })).stream;
}
