/** Found by trying: a check runs the agent's code unobserved, so the host's model keys are not for it. */
import { describe, expect, it } from "vitest";
import { modelHost } from "../../src/contract/model/api.ts";
import type { CheckResult } from "../../src/contract/review/check.ts";
import { startDaemon } from "../support/daemon.ts";
import { makeProject, runIn } from "../support/review.ts";
import { whyNoBoxes } from "../support/test-runtime.ts";

const ask = `curl -sS http://${modelHost}/anthropic/v1/models`;
const manifest = `version = 1
[model]
provider = "anthropic"
name = "claude-sonnet-4-5"

[[check]]
name = "asks"
command = ["sh", "-c", "${ask}"]
`;

describe("a box that only runs checks", () => {
  it("has no model to ask, and so no key that is used for it", async (ctx) => {
    const missing = await whyNoBoxes();
    if (missing !== undefined) ctx.skip(missing);
    await using daemon = await startDaemon();
    const project = await makeProject(daemon, { "README.md": "# Shop\n", "agentbox.toml": manifest });
    const made = await daemon.cli(["create", "--name", "shop"], { cwd: project.dir });
    expect(made.code, made.stderr).toBe(0);
    await daemon.client.startBox("shop");
    // The control: the agent's own box is let through to the question which key it is.
    expect((await runIn(daemon, "shop", `${ask}; echo x > feature.txt`)).stdout).toContain("has no key");
    const { stdout } = await daemon.cli(["check", "shop", "--json"]);
    const { checks } = JSON.parse(stdout) as { checks: CheckResult[] };
    expect(checks[0]?.output).not.toContain("has no key");
    expect(checks[0]?.output).toContain("reserved_name");
  });
});
