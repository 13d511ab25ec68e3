/**
 * A box as a container that runs without AgentBox: the same image and the same closed container, on the directory of
 * the person who starts it. The gate, the vault, the review and boxd stay here, and so it has no network.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { type Box, boxPaths, boxUser } from "../../contract/box.ts";
import type { ContainerDescription, PortableContainer } from "../../contract/container.ts";
import type { Using } from "../using.ts";
import { runtimeBox } from "../boot/start-box.ts";

export async function exportBox(
  core: Using<"gate" | "getBox" | "images" | "runtimes" | "storage" | "tools">,
  name: string,
): Promise<PortableContainer> {
  const box = await core.getBox(name);
  if (box.spec.image === undefined) {
    throw new AgentBoxError("runtime.unsupported", `The box "${name}" is made of this host's own system.`, {
      hint: "Name an image in the manifest ([runtime] image), which other hosts have as well.",
    });
  }
  const runtime = await core.ports.runtimes.get(box.spec.runtime);
  const described = await runtime.describe?.(runtimeBox(core, box, core.ports.tools));
  if (described) return portable(box, { ...described, image: await imageName(core, box.spec.image) });
  throw new AgentBoxError("runtime.unsupported", `The runtime "${runtime.name}" makes no containers.`, {
    hint: `Move the box to one that does: agentbox move ${name} --runtime docker`,
  });
}

/** By the name that a build on another host gives it, too: it is made from what goes into the image. */
const imageName = async (core: Using<"images">, image: string): Promise<string> =>
  (await core.ports.images.list()).find(({ id }) => id === image)?.reference ?? image;

const homeBytes = 512 * 2 ** 20;

/** Pure. The directory `.` stands for where the container is started. */
export function portable({ name, spec }: Box, described: ContainerDescription): PortableContainer {
  const { [boxPaths.secrets]: _secrets, ...tmpfs } = described.tmpfs;
  const { uid, gid } = boxUser;
  return {
    ...described,
    box: name,
    user: `${uid}:${gid}`,
    // SECURITY: a value may have come from this host's environment, so only the names leave it.
    askedEnv: Object.keys(spec.env).sort(),
    command: ["/bin/sh"],
    tmpfs: {
      ...tmpfs,
      [boxPaths.home]: `rw,nosuid,nodev,exec,size=${homeBytes},mode=0700,uid=${uid},gid=${gid}`,
    },
    mounts: [{ source: ".", target: boxPaths.workspace, readOnly: false }, ...spec.mounts],
  };
}
