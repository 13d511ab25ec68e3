/** The content of a box: files of its workspace, ports that listen, and previews of them. */
import { z } from "zod";

/** The most that one upload may hold; larger files are for `agentbox cp`. */
const maxUploadBytes = 1_500_000;

const path = z.string().max(4096).describe("Below the workspace, such as src/app.ts.");

export const FileEntry = z.object({
  name: z.string(),
  kind: z.enum(["file", "dir", "symlink", "other"]),
  size: z.int(),
  mtimeMs: z.int().optional(),
  target: z.string().optional().describe("The target that a link names, unchecked."),
});
export type FileEntry = z.infer<typeof FileEntry>;

export const BoxPort = z.object({
  port: z.int(),
  address: z.string(),
  program: z.string().optional().describe("In the box's own words."),
  service: z.string().optional().describe("The service whose readiness the manifest ties to this port."),
});
export type BoxPort = z.infer<typeof BoxPort>;

export const ListFilesQuery = z.object({ path: path.default("") });

export const KeptAt = z.object({
  checkpoint: z.int().optional().describe("Absent when the box has none: what it began with is shown."),
  atMs: z.int().optional(),
});
export type KeptAt = z.infer<typeof KeptAt>;

export const ListFilesAnswer = z.object({
  entries: z.array(FileEntry),
  total: z.int().describe("More than there are entries when the directory is too large to show."),
  keptAt: KeptAt.optional().describe("The box does not run: the files are those of this checkpoint."),
});

export const ReadFileQuery = z.object({
  path,
  offset: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(0).optional(),
});

export const WriteFileBody = z.strictObject({
  path,
  content: z
    .base64()
    .max(Math.ceil(maxUploadBytes / 3) * 4)
    .describe("The bytes, in base64."),
});

export const ListPortsAnswer = z.object({ ports: z.array(BoxPort) });

const port = z.int().min(1).max(65_535);

export const ConnectPortRequest = z.strictObject({ port });

export const OpenPreviewBody = z.strictObject({
  port,
  agreed: z
    .string()
    .max(100)
    .optional()
    .describe(
      "The yes of the box's owner to what a refusal (preview.unconfirmed) listed: the digest that came with the list.",
    ),
});

export const OpenPreviewAnswer = z.object({ url: z.string(), expiresAtMs: z.int() });
