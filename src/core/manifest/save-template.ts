/**
 * A template that is saved from a page. SECURITY: at the command line a template is the owner's order, which may show a
 * directory or bind a secret that no browser may. What a page writes down must not become such an order later, so only
 * settings that stay inside of a box are taken.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { Using } from "../using.ts";

type Values = Readonly<Record<string, unknown>>;

/** The keys of each section that can be saved; all of them where the list is absent. */
const saved: Readonly<Record<string, readonly string[] | undefined>> = {
  agent: ["name", "version", "autonomy", "args", "options"],
  model: ["name"],
  workspace: ["mode", "carry", "branch"],
  runtime: ["tier"],
  resources: undefined,
  lifecycle: ["ttl", "idle"],
  network: ["default", "presets", "allow"],
  budget: undefined,
};

export async function saveTemplate(
  core: Using<"commit" | "event" | "host">,
  { name, values }: { readonly name: string; readonly values: Values },
): Promise<void> {
  const refused = refusedKeys(values);
  if (refused.length > 0) {
    throw new AgentBoxError("input.invalid", `A template from the page cannot have ${refused.join(", ")}.`, {
      hint: "Save a file with them at the command line: agentbox template save NAME FILE",
    });
  }
  if (Object.keys(values).length === 0) {
    throw new AgentBoxError("input.invalid", "The form sets nothing that a template could keep.", {
      hint: "Choose an agent, a limit or a host first.",
    });
  }
  await core.ports.host.addTemplate(name, values);
  await core.commit({ events: [core.event("template.saved", undefined, { name })] });
}

/** What is not in the list, as `section` or `section.key`. Pure. */
export function refusedKeys(values: Values): string[] {
  return Object.entries(values).flatMap(([section, value]) => {
    if (!Object.hasOwn(saved, section) || typeof value !== "object" || value === null) return [section];
    const keys = saved[section];
    // A mounted workspace is a directory of the host that the box writes.
    if (section === "workspace" && (value as Values)["mode"] === "mount") return ["workspace.mode"];
    if (keys === undefined) return [];
    return Object.keys(value)
      .filter((key) => !keys.includes(key))
      .map((key) => `${section}.${key}`);
  });
}
