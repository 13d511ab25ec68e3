/**
 * `devcontainer.json` of a project: a file of other tools, from which a box takes its image, or packages for one, and
 * plain variables. Entries that would run a command or open the box are named in a warning and never followed.
 */
import { safeParse, z } from "zod";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { isOwn, loaders } from "../checks/check-env.ts";
import { readFeatures } from "./devcontainer-features.ts";
import { parseJsonc } from "./jsonc.ts";
import { findUnsafeValue } from "../toml/raw-values.ts";
import { EnvName, ImageReference, Text } from "../sections/scalars.ts";
import { maxEnvVariables } from "../schema.ts";

/** Where it can be in a project; the first one counts. */
export const devcontainerNames = [".devcontainer/devcontainer.json", ".devcontainer.json"] as const;

export interface Devcontainer {
  /** Its name in the project. */
  readonly file: string;
  readonly image?: string | undefined;
  /** Debian packages in place of its features; only where it names no image. */
  readonly packages?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

const commands = "commands of a repository are not run; make it a service, or let the agent run it";
const builds = "nothing is built from it; name an image in runtime.image";
const opens = "the baseline of a box is never removed; see [security.exceptions]";
const users = "a box has its own user";
/** Keys that other tools act on, and why a box does not. */
const notDone: Readonly<Record<string, string>> = {
  build: builds,
  dockerFile: builds,
  dockerComposeFile: builds,
  initializeCommand: commands,
  onCreateCommand: commands,
  updateContentCommand: commands,
  postCreateCommand: commands,
  postStartCommand: commands,
  postAttachCommand: commands,
  mounts: "a box sees only the mounts of its manifest",
  workspaceMount: "the workspace is where the manifest says",
  workspaceFolder: "the workspace is where the manifest says",
  runArgs: opens,
  privileged: opens,
  capAdd: opens,
  securityOpt: opens,
  containerUser: users,
  remoteUser: users,
  remoteEnv: "only containerEnv is read",
  secrets: "secrets are named in [secrets]",
};

const Known = z.object({
  image: z.unknown().optional(),
  features: z.unknown().optional(),
  containerEnv: z.record(z.string(), z.unknown()).optional(),
});

export function readDevcontainer(file: string, text: string): Devcontainer {
  const parsed = parseJsonc(text);
  const unused = (reason: string): Devcontainer => ({
    file,
    env: {},
    warnings: [`${file} is not used: ${reason}.`],
  });
  if ("problem" in parsed) return unused(parsed.problem);
  // SECURITY: before anything copies its keys into objects or shows its texts.
  const unsafe = findUnsafeValue(parsed.value);
  if (unsafe) return unused(unsafe.message.replace(/\.$/, ""));
  const known = safeParse(Known, parsed.value);
  if (!known.success) return unused("it is not of the expected form");
  const image = readImage(file, known.data.image);
  const features = readFeatures(file, known.data.features ?? {}, image.value !== undefined);
  const variables = readVariables(file, known.data.containerEnv ?? {});
  const left = Object.keys(parsed.value as object)
    .filter((key) => Object.hasOwn(notDone, key))
    .map((key) => `"${key}" of ${file} is not used: ${notDone[key]}.`);
  return {
    file,
    ...omitUndefined({ image: image.value }),
    ...(features.packages.length === 0 ? {} : { packages: features.packages }),
    env: variables.env,
    warnings: [...image.warnings, ...features.warnings, ...variables.warnings, ...left],
  };
}

function readImage(file: string, raw: unknown): { value?: string; warnings: string[] } {
  if (raw === undefined) return { warnings: [] };
  const parsed = safeParse(ImageReference, raw);
  if (parsed.success) return { value: parsed.data, warnings: [] };
  return { warnings: [`"image" of ${file} is not used: it is not a plain reference of an image.`] };
}

/** Why a variable is left out; undefined when the box can have it. */
function whyLeftOut(name: string, value: unknown): string | undefined {
  if (!safeParse(EnvName, name).success) return "it is no name of a variable";
  if (isOwn(name) || loaders.has(name)) return "AgentBox sets it, or it loads code into every program";
  if (!safeParse(Text, value).success) return "its value is not a text";
  // SECURITY: ${localEnv:…} would be a variable of the host, which only the manifest can ask for.
  if (String(value).includes("${")) return "it refers to something outside the file";
  return undefined;
}

function readVariables(
  file: string,
  raw: Readonly<Record<string, unknown>>,
): { env: Record<string, string>; warnings: string[] } {
  const judged = Object.entries(raw)
    .slice(0, maxEnvVariables)
    .map(([name, value]) => ({ name, value, reason: whyLeftOut(name, value) }));
  const fit = judged.filter(({ reason }) => reason === undefined);
  const warnings = judged
    .filter(({ reason }) => reason !== undefined)
    .map(({ name, reason }) => `The variable "${name.slice(0, 64)}" of ${file} is left out: ${reason}.`);
  return {
    env: Object.fromEntries(fit.map(({ name, value }) => [name, String(value)])),
    warnings: warnings.map((warning) => printable(warning)),
  };
}
