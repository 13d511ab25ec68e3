/** Commands that people type without having read the help: they work, or lead to the right one. */
import { expect, it } from "vitest";
import { onAgents } from "../support/agents.ts";

onAgents("the command line", { fixtures: ["notebot"] }, (ground) => {
  it("leads from the name of an agent that is started to the command that runs it", async () => {
    const { daemon } = ground;
    expect(await daemon.cli(["start", "claude"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("hint: agentbox start claude → agentbox run claude"),
    });
    const { stderr } = await daemon.cli(["start", "nothing"]);
    expect(stderr).toContain('There is no box named "nothing".');
    expect(stderr).not.toContain("→");
  });
});
