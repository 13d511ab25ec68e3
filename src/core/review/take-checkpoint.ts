import type { Checkpoint } from "../../contract/review/checkpoint.ts";
import type { LinkParts, Using } from "../using.ts";
import { type TakeOptions, takeFrom } from "./checkpoint-over-link.ts";
import { withLink } from "./quiet-box.ts";
import { requireReviewable } from "./review-of.ts";

/** The newest checkpoint after this moment: a new one when something has changed, otherwise the last. */
export async function takeCheckpoint(
  core: Using<LinkParts | "commit" | "event" | "reviews">,
  name: string,
  options: TakeOptions,
): Promise<Checkpoint | undefined> {
  requireReviewable(await core.getBox(name));
  return withLink(core, name, (box, link) => takeFrom(core, box, link, options), {
    mayRepeat: true,
  });
}
