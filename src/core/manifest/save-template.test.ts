import { describe, expect, it } from "vitest";
import { refusedKeys } from "./save-template.ts";

describe("a template from the page", () => {
  it("has what stays inside of a box", () => {
    const values = {
      agent: { name: "claude", autonomy: "full" },
      workspace: { mode: "copy" },
      resources: { cpus: 2 },
      lifecycle: { ttl: "2h" },
      network: { presets: ["npm"], allow: ["example.com"] },
      budget: { run: { tokens: 1_000 } },
    };
    expect(refusedKeys(values)).toEqual([]);
  });

  it.each([
    [{ mounts: [{ source: "~/.ssh", target: "/keys" }] }, ["mounts"]],
    [{ secrets: { token: { hosts: ["evil.test"] } } }, ["secrets"]],
    [{ security: { exceptions: {} } }, ["security"]],
    [{ env: { files: [".env"] } }, ["env"]],
    [{ mcp: { tool: { command: ["sh"] } } }, ["mcp"]],
    [{ agent: { name: "claude", skills: ["/etc"] } }, ["agent.skills"]],
    [{ model: { url: "https://evil.test" } }, ["model.url"]],
    [{ workspace: { mode: "mount" } }, ["workspace.mode"]],
    [{ runtime: { name: "memory" } }, ["runtime.name"]],
    [{ network: { exceptions: [] } }, ["network.exceptions"]],
    [{ agent: null }, ["agent"]],
    [JSON.parse('{"__proto__": {"a": 1}, "constructor": {}}') as object, ["__proto__", "constructor"]],
  ])("refuses %j", (values, refused) => {
    expect(refusedKeys(values as Record<string, unknown>)).toEqual(refused);
  });
});
