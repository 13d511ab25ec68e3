import { expect, it } from "vitest";
import { keepable } from "./last-form.ts";

it("keeps what is chosen, and no text that may be a secret", () => {
  const kept = keepable({
    agent: { name: "claude", options: { max_turns: 3 }, args: ["--key=hush"], instructions: "hush" },
    lifecycle: { ttl: "2h" },
    env: { TOKEN: "hush" },
    services: { web: { command: "serve hush", env: { A: "hush" } } },
    mcp: { servers: { a: { url: "https://example.org", headers: { authorization: "hush" } } } },
    check: [{ name: "x", command: "hush" }],
  });
  expect(kept).toEqual({ agent: { name: "claude", options: { max_turns: 3 } }, lifecycle: { ttl: "2h" } });
  expect(JSON.stringify(kept)).not.toContain("hush");
});
