import { AgentBoxError } from "../../base/errors.ts";
import type { BoxSpec, Isolation } from "../../contract/box.ts";
import type { Using } from "../using.ts";
import { isAtLeast } from "../plan/choose-runtime.ts";
import { type ImageOrigin, type RecipePort, imageRecipe, pinnedBase } from "./image-recipe.ts";
import { withServersInside } from "./packaged-servers.ts";
import { wantsImage } from "./wants-image.ts";

/** Gives a new box the image of its manifest, by content. Building takes minutes, so it is asked for on its own. */
export async function useImage(
  core: Using<RecipePort | "images">,
  spec: BoxSpec,
  { tier }: Pick<Isolation, "tier">,
  origin: ImageOrigin,
): Promise<BoxSpec> {
  if (!wantsImage(spec) || !isAtLeast(tier, "container")) return spec;
  const base = spec.image === undefined ? undefined : await pinnedBase(core, spec.image, origin);
  if (spec.image !== undefined && base === undefined) throw notBuilt(spec);
  const recipe = await imageRecipe(core, spec, origin, base);
  const found = await core.ports.images.find(recipe);
  if (!found) throw notBuilt(spec);
  return { ...withServersInside(spec, recipe.servers ?? []), image: found.id };
}

const notBuilt = ({ agent }: BoxSpec): AgentBoxError =>
  new AgentBoxError("image.not_built", `The image for ${agent.name} has not been built from this manifest.`, {
    hint: "Build it: agentbox build",
    facts: { agent: agent.name },
  });
