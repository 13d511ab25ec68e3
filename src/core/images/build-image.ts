import type { RouteBody } from "../../contract/api/routes.ts";
import type { BoxSpec } from "../../contract/box.ts";
import type { ImageInfo } from "../../contract/image.ts";
import { formatImageReference, parseImageReference } from "../../contract/image-reference.ts";
import type { BuildOptions } from "../../ports/images.ts";
import type { PlanParts, Using } from "../using.ts";
import { recorded } from "../plan/record-refusals.ts";
import { soundPlan } from "../plan/sound-plan.ts";
import type { Maker } from "../team/members.ts";
import { installServers } from "./packaged-servers.ts";
import { type ImageOrigin, imageRecipe, lockDirectory, pinnedBase } from "./image-recipe.ts";

type Progress = Pick<BuildOptions, "onProgress" | "signal">;

/** Builds the image of a manifest, or finds that it is there. */
export async function buildImage(
  core: Using<PlanParts | "access" | "clock" | "commit" | "event" | "note">,
  request: RouteBody<"buildImage"> & Partial<Maker>,
  how: Progress,
): Promise<{ image: ImageInfo; isNew: boolean }> {
  const { ports } = core;
  const { spec, projectDir, manifestDigest } = await soundPlan(core, { ...request, makes: "image" });
  const origin = { projectDir, manifestDigest };
  const base = await baseOf(core, spec, origin, { isFresh: request.isFresh, ...how });
  await installServers(core, spec, how);
  const recipe = await recorded(core, () => imageRecipe(core, spec, origin, base));
  const built = await ports.images.build(recipe, { isFresh: request.isFresh, ...how });
  if (built.isNew) {
    const { inputs, id, reference, agent, bytes } = built.image;
    await core.note("image.built", undefined, { inputs, id, reference, agent, bytes });
  }
  return built;
}

/** A reference without a digest is looked up once and pinned; with `isFresh` it is looked up again. */
async function baseOf(
  core: Using<"images" | "toolStore">,
  { image }: BoxSpec,
  origin: ImageOrigin,
  { isFresh, ...how }: Progress & { readonly isFresh: boolean },
): Promise<string | undefined> {
  if (image === undefined) return undefined;
  const pinned = await pinnedBase(core, image, origin);
  const { name, digest: written } = parseImageReference(image)!;
  if (written !== undefined || (pinned !== undefined && !isFresh)) return pinned;
  const digest = await core.ports.images.resolve(image, how);
  await core.ports.toolStore.pinImage(lockDirectory(origin), image, digest);
  return formatImageReference({ name, digest });
}
