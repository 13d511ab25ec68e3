import type { Draft, Values } from "./draft.ts";

const storageKey = "agentbox-last-form";

/** Sections without texts of the person's own. */
const kept = ["agent", "model", "budget", "workspace", "runtime", "resources", "lifecycle", "network"];

/**
 * SECURITY: variables, arguments, instructions and commands may hold values that do not belong in a browser's storage,
 * so only what is named here is kept.
 */
export function keepable(values: Values): Values {
  const sections = Object.entries(values).filter(([name]) => kept.includes(name));
  const { agent, ...others } = Object.fromEntries(sections);
  const { name, autonomy, options } = (agent ?? {}) as Record<string, unknown>;
  return { ...JSON.parse(JSON.stringify({ agent: { name, autonomy, options } })), ...others } as Values;
}

export function keepLast({ projectDir, values }: Draft): void {
  localStorage.setItem(storageKey, JSON.stringify({ projectDir, values: keepable(values) }));
}

export function readLast(): Pick<Draft, "projectDir" | "values"> | undefined {
  try {
    const { projectDir, values } = JSON.parse(localStorage.getItem(storageKey) ?? "") as Partial<Draft>;
    return typeof projectDir === "string" && typeof values === "object" ? { projectDir, values } : undefined;
  } catch {
    return undefined;
  }
}
