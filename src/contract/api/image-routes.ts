/** Routes about images. */
import { z } from "zod";
import { ImageInfo } from "../image.ts";
import { type Route, none } from "./route.ts";
import { CreateBox } from "./schemas.ts";

const named = z.object({ name: z.string().min(1).max(512) });

export const imageRoutes = {
  listImages: {
    method: "GET",
    path: "/v1/images",
    summary: "Images that were built here, the newest first.",
    response: z.object({ images: z.array(ImageInfo) }),
  },
  buildImage: {
    method: "POST",
    path: "/v1/images",
    summary: "Build the image of a manifest; answers with BuildStep objects, one a line.",
    body: CreateBox.pick({
      projectDir: true,
      manifest: true,
      flags: true,
      trust: true,
    }).extend({
      isFresh: z.boolean().default(false).describe("Make the base and every layer again."),
    }),
    response: none,
    media: "stream",
  },
  removeImage: {
    method: "DELETE",
    path: "/v1/images",
    summary: "Remove an image that no box is made from.",
    query: named,
    response: z.object({ image: ImageInfo }),
  },
  pruneImages: {
    method: "POST",
    path: "/v1/images/prune",
    summary: "Remove images that no box and no project with a lock file uses.",
    body: z.strictObject({ isDryRun: z.boolean().default(false) }),
    response: z.object({ removed: z.array(z.string()), freedBytes: z.int() }),
  },
  getSbom: {
    method: "GET",
    path: "/v1/images/sbom",
    summary: "The parts of an image, as CycloneDX.",
    query: named,
    response: z.object({ sbom: z.record(z.string(), z.unknown()) }),
  },
} as const satisfies Record<string, Route>;
