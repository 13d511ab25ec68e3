import type { Draft, Values } from "./draft.ts";

const place = "agentbox-last-form";

/** SECURITY: variables and instructions may hold what nobody wants to find in a browser's storage. */
function keepable({ env: _env, agent, ...values }: Values): Values {
  const { instructions: _instructions, args: _args, ...rest } = (agent ?? {}) as Record<string, unknown>;
  return Object.keys(rest).length === 0 ? values : { agent: rest, ...values };
}

export function keepLast({ projectDir, values }: Draft): void {
  localStorage.setItem(place, JSON.stringify({ projectDir, values: keepable(values) }));
}

export function readLast(): Pick<Draft, "projectDir" | "values"> | undefined {
  try {
    const { projectDir, values } = JSON.parse(localStorage.getItem(place) ?? "") as Partial<Draft>;
    return typeof projectDir === "string" && typeof values === "object" ? { projectDir, values } : undefined;
  } catch {
    return undefined;
  }
}
