import { AgentBoxError } from "../../base/errors.ts";
import type { ImageInfo } from "../../contract/image.ts";
import { lockFileName } from "../../contract/lock-file.ts";
import type { Using } from "../using.ts";

/** By what people see: the reference, its tag, or the beginning of a digest. */
export async function getImage(core: Using<"images">, name: string): Promise<ImageInfo> {
  const images = await core.ports.images.list();
  const exact = images.filter(
    ({ reference, id, inputs }) => [reference, id, inputs].includes(name) || reference.endsWith(`:${name}`),
  );
  const begun = images.filter(({ id, inputs }) =>
    [id, inputs].some((digest) => name.length >= 6 && digest.replace("sha256:", "").startsWith(name)),
  );
  const [found, another] = exact.length > 0 ? exact : begun;
  if (found && !another) return found;
  const shown = JSON.stringify(name.slice(0, 120));
  throw new AgentBoxError(
    "image.not_found",
    another ? `${shown} fits more than one image.` : `No image ${shown} was built here.`,
    { hint: "List the images: agentbox images" },
  );
}

export async function removeImage(
  core: Using<"images" | "note" | "store">,
  name: string,
): Promise<ImageInfo> {
  const image = await getImage(core, name);
  const users = (await core.ports.store.listBoxes()).filter(({ spec }) => spec.image === image.id);
  if (users.length > 0) {
    const names = users.map((box) => box.name).slice(0, 5);
    throw new AgentBoxError("image.in_use", `Boxes are made from this image: ${names.join(", ")}.`, {
      hint: "Remove those first: agentbox rm BOX",
      facts: { boxes: names },
    });
  }
  await core.ports.images.remove(image.inputs);
  await core.note("image.removed", undefined, { inputs: image.inputs, reference: image.reference });
  return image;
}

/** Removes what no box is made from, but for the newest image of each project that has a lock file. */
export async function pruneImages(
  core: Using<"host" | "images" | "note" | "store">,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<{ removed: string[]; freedBytes: number }> {
  const { images, store } = core.ports;
  const used = new Set((await store.listBoxes()).map(({ spec }) => spec.image));
  const locked = new Set<string>();
  const removed: string[] = [];
  // Newest first, so the first of each project is the one that the next box would get.
  for (const { inputs, id, reference, projectDir } of await images.list()) {
    const isNewest = projectDir !== undefined && !locked.has(projectDir);
    if (isNewest && (await hasLock(core, projectDir))) {
      locked.add(projectDir);
      continue;
    }
    if (used.has(id)) continue;
    removed.push(reference);
    if (isDryRun) continue;
    await images.remove(inputs);
    await core.note("image.removed", undefined, { inputs, reference });
  }
  return { removed, freedBytes: isDryRun ? 0 : await images.sweep() };
}

const hasLock = async (core: Using<"host">, projectDir: string): Promise<boolean> =>
  (await core.ports.host.readProjectFile(projectDir, lockFileName)) !== undefined;
