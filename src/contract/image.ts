import { z } from "zod";

/** One image that was built here: named by what went into it. */
export const ImageInfo = z.object({
  /** `sha256:…` over everything it is made from. */
  inputs: z.string(),
  /** The engine's own name for it, by content; what boxes are started from. */
  id: z.string(),
  /** For people, in the engine's list. */
  reference: z.string(),
  /** `name@version`, or the name alone for what is part of every box. */
  agent: z.string(),
  base: z.string(),
  packages: z.array(z.string()),
  /** Of the manifest file it was built for; absent when there was none. */
  manifest: z.string().optional(),
  projectDir: z.string().optional(),
  bytes: z.int(),
  layers: z.array(z.object({ name: z.string(), digest: z.string(), bytes: z.int() })),
  /** Parts of the manifest that no image can hold. */
  warnings: z.array(z.string()),
  builtAtMs: z.int(),
});
export type ImageInfo = z.infer<typeof ImageInfo>;

/** One line of the answer to a build. */
export const BuildStep = z.discriminatedUnion("type", [
  z.object({ type: z.literal("progress"), message: z.string() }),
  z.object({ type: z.literal("done"), image: ImageInfo, isNew: z.boolean() }),
  z.object({
    type: z.literal("error"),
    error: z.object({ code: z.string(), message: z.string() }).loose(),
  }),
]);
export type BuildStep = z.infer<typeof BuildStep>;

/** Labels of every image that is built here; a runtime that sees `inputs` needs to bring no tools. */
export const imageLabels = {
  inputs: "agentbox.inputs",
  manifest: "agentbox.manifest",
  agent: "agentbox.agent",
} as const;
