/** The package sources of npm: its registry and those of scopes, as npm itself reports them. */
import { AgentBoxError } from "../../base/errors.ts";
import { type ToolHost, notInstalled } from "./tool-host.ts";

export async function readNpm(host: ToolHost): Promise<readonly string[]> {
  const output = await host.ask(["npm"], ["config", "list", "--json"]);
  if (output === undefined) throw notInstalled("npm");
  return Object.entries(parseObject(output)).flatMap(([key, value]) =>
    typeof value === "string" && (key === "registry" || /^@[^:]+:registry$/.test(key)) ? [value] : [],
  );
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object") return value;
  } catch {
    // Reported below, like an answer of another form.
  }
  throw new AgentBoxError("policy.invalid", "npm answered with something else than its configuration.", {
    hint: "Try it yourself: npm config list --json",
  });
}
