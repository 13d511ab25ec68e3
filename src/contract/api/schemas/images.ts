import { z } from "zod";
import { ImageInfo } from "../../image.ts";
import { CreateBox } from "../schemas.ts";

export const NamedImage = z.object({ name: z.string().min(1).max(512) });

export const ListImagesAnswer = z.object({ images: z.array(ImageInfo) });

export const BuildImageBody = CreateBox.pick({
  projectDir: true,
  manifest: true,
  flags: true,
  trust: true,
}).extend({
  isFresh: z.boolean().default(false).describe("Make the base and every layer again."),
});

export const RemoveImageAnswer = z.object({ image: ImageInfo });

export const PruneImagesBody = z.strictObject({ isDryRun: z.boolean().default(false) });

export const PruneImagesAnswer = z.object({ removed: z.array(z.string()), freedBytes: z.int() });

export const GetSbomAnswer = z.object({ sbom: z.record(z.string(), z.unknown()) });
