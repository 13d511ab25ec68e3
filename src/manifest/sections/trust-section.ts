import { z } from "zod";
import { PathText } from "./scalars.ts";

export const TrustSection = z
  .strictObject({
    directories: z
      .array(PathText.regex(/^\//, "an absolute path"))
      .max(256)
      .optional()
      .describe(
        "Absolute paths of directories of which manifests, lock files and the like are taken as orders, although another user owns or can write them.",
      ),
  })
  .describe("Whose files are taken as orders, beside your own and root's. User config only.");
