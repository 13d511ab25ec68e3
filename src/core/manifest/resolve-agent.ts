/** The agent of a box, with options its own schema has agreed to. Pure. */
import { safeParse, type z } from "zod";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { type AgentEntry, type Autonomy, autonomyLevels } from "../../contract/agent.ts";
import type { BoxSpec } from "../../contract/box.ts";
import { manifestDefaults } from "../../manifest/defaults.ts";
import type { LayerValues } from "../../manifest/index.ts";
import { schemaProblems } from "../../manifest/schema-problems.ts";
import { type ManifestInputs, resolveSkills } from "../trust/mount-requests.ts";

/** Throws `agent.option_invalid` for an option the agent does not have or take. */
export function resolveAgent(
  { agent = {} }: LayerValues,
  inputs: ManifestInputs,
  entry: Pick<AgentEntry, "options"> | undefined,
): BoxSpec["agent"] {
  const { name = manifestDefaults.agent.name, version, instructions } = agent;
  const skills = resolveSkills(inputs);
  return {
    name,
    args: agent.args ?? [],
    ...omitUndefined({ version }),
    autonomy: autonomyOf(inputs.layers),
    options: entry ? checkedOptions(name, entry.options, agent.options ?? {}) : (agent.options ?? {}),
    ...omitUndefined({ instructions, skills: skills?.source }),
  };
}

/** SECURITY: a repository may ask for less than the person set for all their boxes, not for more; who types decides. */
function autonomyOf(layers: ManifestInputs["layers"]): Autonomy {
  const levelOf = (source: string) => layers.find((layer) => layer.source === source)?.values.agent?.autonomy;
  const typed = levelOf("flag");
  if (typed !== undefined) return typed;
  const wanted = [levelOf("user config"), levelOf("manifest")].filter((level) => level !== undefined);
  return autonomyLevels.find((level) => wanted.includes(level)) ?? manifestDefaults.agent.autonomy;
}

function checkedOptions(
  agent: string,
  schema: z.ZodObject,
  options: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const read = Object.fromEntries(
    Object.entries(options).map(([key, value]) => [key, readTyped(schema, key, value)]),
  );
  // Strict, also where the entry's schema is not: an option that is silently dropped would seem to be in force.
  const result = safeParse(schema.strict(), read);
  if (result.success) return result.data;
  const [problem] = schemaProblems(result.error.issues, read, () => Object.keys(schema.shape));
  throw new AgentBoxError(
    "agent.option_invalid",
    `The agent "${agent}" cannot take an option: ${printable(problem?.message ?? "it is not known.")}`,
    { hint: problem && printable(problem.hint), facts: { agent, known: Object.keys(schema.shape) } },
  );
}

/** Flags are text; they stand for a number or a switch where the option is one and not a text. */
function readTyped(schema: z.ZodObject, key: string, value: unknown): unknown {
  const option = Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined;
  if (option === undefined || typeof value !== "string" || safeParse(option, value).success) return value;
  const meant =
    value === "true"
      ? true
      : value === "false"
        ? false
        : /^-?\d+(\.\d+)?$/.test(value)
          ? Number(value)
          : value;
  return safeParse(option, meant).success ? meant : value;
}
