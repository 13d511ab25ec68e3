import { z } from "zod";
import { ImageReference, FeatureName, PackageName, Word } from "./scalars.ts";

/** The tiers that a manifest can ask for, weakest first. */
const askedTiers = ["namespaces", "container", "rootless", "gvisor"] as const;

export const RuntimeSection = z
  .strictObject({
    name: Word.optional().describe("What the box is made of, by name; see agentbox doctor."),
    tier: z
      .enum(askedTiers)
      .optional()
      .describe(
        "The weakest isolation that will do. Without a name, the strongest runtime that is ready; where none has it, the box is refused.",
      ),
    image: ImageReference.optional().describe(
      "What the box's system is made of, such as debian:12 or name@sha256:…. Needs a container runtime. Asks for trust.",
    ),
    packages: z
      .array(PackageName)
      .max(256)
      .optional()
      .describe("Debian packages that are part of the box's system. Needs a container runtime."),
    features: z
      .array(FeatureName)
      .max(32)
      .optional()
      .describe(
        "Names that switch on the exceptions of [security.exceptions] that have them as their feature.",
      ),
  })
  .describe("What the box is made of.");
