/** For a form: what a manifest may say, and what the daemon would say to one. */
import { z } from "zod";
import { BoxSpec, Isolation } from "../../box.ts";
import { ToolchainOffer } from "../../toolchain.ts";
import { CreateBox, PolicyAnswer, TrustQuestion } from "../schemas.ts";
import { Problem } from "./error-answer.ts";
import { PlannedCommand } from "./planned-command.ts";

/** One rule that is broken, and by whom: the form, or a file that the box would be made from. */
const CheckFinding = z.object({
  in: z.enum(["form", "file"]),
  file: z.string().optional(),
  code: z.string(),
  severity: z.enum(["error", "warning"]),
  path: z.string().describe("Such as `services.web.ready.port`; empty for all of it."),
  line: z.int().describe("In `toml` for the form, otherwise in the file; counted from 1."),
  column: z.int(),
  message: z.string(),
  hint: z.string(),
});
export type CheckFinding = z.infer<typeof CheckFinding>;

export const ManifestCheck = z.object({
  findings: z.array(CheckFinding),
  problems: z
    .array(Problem)
    .describe("What making the box would be refused with, or what must be installed or built before."),
  warnings: z.array(z.string()),
  toml: z.string().describe("The form as an agentbox.toml."),
  project: z
    .object({
      dir: z.string().describe("Where the manifest lies, otherwise the directory that was named."),
      manifest: z.object({ file: z.string(), text: z.string() }).optional(),
    })
    .optional(),
  trust: TrustQuestion.optional().describe("What the file asks for beyond its workspace."),
  toolchains: z
    .array(ToolchainOffer)
    .optional()
    .describe("Toolchains that the project uses, and whether the box gets them."),
  summary: z
    .object({
      name: z.string().describe("The name it would get."),
      spec: BoxSpec,
      isolation: Isolation.optional(),
      network: PolicyAnswer.shape.lines,
      command: PlannedCommand.optional().describe("Absent while it cannot be told."),
    })
    .optional()
    .describe("The box as it would be made; absent while that cannot be told."),
});
export type ManifestCheck = z.infer<typeof ManifestCheck>;

const KnownProject = z.object({
  dir: z.string(),
  boxes: z.int().describe("How many boxes there are of it."),
  hasManifest: z.boolean(),
  branch: z.string().optional().describe("The branch that it is on, where it is a repository."),
  isTrusted: z.boolean().describe("Whether a person has agreed to something for it."),
  lastUsedAtMs: z.int().optional(),
});
export type KnownProject = z.infer<typeof KnownProject>;

export const GetManifestSchemaAnswer = z.object({
  schema: z.record(z.string(), z.unknown()),
  choices: z.record(z.string(), z.array(z.string())).describe("By key, such as `runtime.name`."),
});

export const CheckManifestBody = CreateBox.omit({ start: true, ephemeral: true });

export const SaveTemplateBody = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,47}$/, "lower-case letters, digits and hyphens"),
  values: z
    .record(z.string().max(64), z.unknown())
    .describe("A partial manifest that stays inside of a box."),
});

export const ListTemplatesAnswer = z.object({
  templates: z.array(
    z.object({
      name: z.string(),
      values: z.record(z.string(), z.unknown()).describe("A partial manifest."),
    }),
  ),
});

export const ListProjectsAnswer = z.object({ projects: z.array(KnownProject) });
