/** `--filter KEY=VALUE`: which boxes of a list are shown. */
import { AgentBoxError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import type { BoxSummary } from "../../contract/api/schemas.ts";

/** The words that a box has under each key; one of them must be the wanted one. */
const words: Readonly<Record<string, (box: BoxSummary) => readonly (string | undefined)[]>> = {
  name: ({ name }) => [name],
  state: ({ phase, reason, agentState, verdict }) => [phase, reason, agentState, verdict],
  agent: ({ agent }) => [agent],
  project: ({ projectDir, repo }) => [projectDir, projectDir?.split("/").at(-1), repo],
  branch: ({ branch }) => [branch],
  runtime: ({ runtime }) => [runtime],
  person: ({ person }) => [person],
  needs: ({ needs }) => [needs.length > 0 ? "yes" : "no", ...needs.map(({ kind }) => kind)],
};

export const filterKeys: readonly string[] = Object.keys(words);

type Matches = (box: BoxSummary) => boolean;

/** Values of one key are alternatives, and every key must match. A value may hold `*`. */
export function parseBoxFilter(texts: readonly string[]): Matches {
  const wanted = new Map<string, RegExp[]>();
  for (const text of texts) {
    const [, key = text, value] = /^([^=]*)=(.+)$/s.exec(text) ?? [];
    if (!Object.hasOwn(words, key) || value === undefined) throw badFilter(text, key);
    wanted.set(key, [...(wanted.get(key) ?? []), patternOf(value)]);
  }
  return (box) =>
    [...wanted].every(([key, patterns]) =>
      words[key]!(box).some((word) => word !== undefined && patterns.some((pattern) => pattern.test(word))),
    );
}

function badFilter(text: string, key: string): AgentBoxError {
  const meant = Object.hasOwn(words, key) ? undefined : suggest(key, filterKeys);
  return new AgentBoxError("input.invalid", `--filter ${text.slice(0, 80)} is not KEY=VALUE.`, {
    hint: meant
      ? `Did you mean --filter ${meant}=…?`
      : `Keys: ${filterKeys.join(", ")}. Such as --filter state=running.`,
  });
}

/** Case and the difference between a space, a hyphen and an underscore are not worth a second try. */
const patternOf = (value: string): RegExp => {
  const parts = value.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*").replaceAll(/[ _-]/g, "[ _-]")}$`, "is");
};
