/** Asks for plans before anything is made of them: one problem refuses all, so that either all boxes are made or none. */
import { AgentBoxError } from "../base/errors.ts";
import type { CreateBoxInput } from "../contract/api/schemas.ts";
import { isRemediable, refusalOf } from "../contract/plan.ts";
import type { Client } from "./client.ts";

/** Everything that the plan of such a box would be refused for. */
export async function planProblems(
  client: Client,
  { start: _start, ephemeral: _ephemeral, ...input }: CreateBoxInput,
): Promise<AgentBoxError[]> {
  const { findings, problems } = await client.checkManifest(input);
  const wrong = findings
    .filter(({ severity }) => severity === "error")
    .map(({ file, line, column, code, message, hint }) => {
      const position = file === undefined ? "" : `${file}:${line}:${column}: `;
      return new AgentBoxError("manifest.invalid", `${position}${code} ${message}`, { hint });
    });
  return [...wrong, ...problems.map((problem) => AgentBoxError.fromBody(problem))];
}

export interface PlannedInput {
  readonly input: CreateBoxInput;
  /** Problems that can be solved before the box is made. */
  readonly problems: readonly AgentBoxError[];
}

/** The plans of several boxes; throws all that cannot be solved for any of them. */
export async function planAll(client: Client, inputs: readonly CreateBoxInput[]): Promise<PlannedInput[]> {
  const planned = await Promise.all(
    inputs.map(async (input) => ({ input, problems: await planProblems(client, input) })),
  );
  const lasting = planned.flatMap(({ problems }) => problems.filter((problem) => !isRemediable(problem)));
  if (lasting.length > 0) throw refusalOf(withoutRepeats(lasting));
  return planned;
}

const withoutRepeats = (problems: readonly AgentBoxError[]): AgentBoxError[] =>
  problems.filter(({ message }, index) => problems.findIndex((other) => other.message === message) === index);
