/** An agent whose next request does not fit its budget: told with its numbers, raised from the inbox, and then it goes on. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { eventsOf, onAgents } from "../support/agents.ts";
import { type TestBrowser, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { codeOf } from "../support/review.ts";
import { describeUnless } from "../support/skipping.ts";

describeUnless(noBrowser)("a box that is out of budget", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  onAgents("with a model behind it", { fixtures: ["notebot"] }, (ground) => {
    it.each([
      { width: 1280, height: 800, box: "poor-wide" },
      { width: 390, height: 780, box: "poor-slim" },
    ])("says what it needs, and goes on when it is raised at $width px", async ({ width, height, box }) => {
      const { daemon } = ground;
      ground.play([{ text: "a note", usage: { input: 12, output: 7 } }]);
      const task = ["--task", "Write a note.", "--budget-tokens", "5"];
      const run = ["run", "notebot", "--name", box, ...task, "--detach"];
      expect((await daemon.cli(run, { cwd: await ground.project() })).code).toBe(0);
      await waitFor(
        "it is paused",
        async () => (await daemon.client.getBox(box)).box.state.phase === "paused",
        30_000,
      );
      const [event] = await eventsOf(daemon, box, "budget.exhausted");
      const next = Number(event?.data["next"]);
      expect(next).toBeGreaterThan(5);
      const words = `The next request may use ${next.toLocaleString("en-US")} tokens; the limit is 5 tokens, of which 0 tokens are used.`;
      const flags = `--scope run --tokens ${next - 5}`;
      const resumed = await daemon.cli(["resume", box]);
      expect(codeOf(resumed)).toBe("budget.exhausted");
      expect(resumed.stderr).toContain(words);
      expect(resumed.stderr).toContain(`agentbox budget raise ${box} ${flags}`);
      expect((await daemon.cli(["budget", "show", box])).stdout).toContain(
        `${words}\nGo on with: agentbox budget raise ${box} ${flags}\n`,
      );
      expect((await daemon.cli(["inbox"])).stdout).toContain(words);

      await using view = await signedInPage(browser, daemon, { width, height, path: "/inbox" });
      const { page } = view;
      const item = page.getByRole("list", { name: "Boxes that need you" }).getByRole("listitem");
      await item.getByText(words).waitFor();
      await item.getByRole("button", { name: `Raise the budget: ${box}` }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText(words).waitFor();
      expect(await dialog.getByLabel("More tokens").inputValue()).toBe(String(next - 5));
      await dialog.getByRole("button", { name: "Raise" }).click();
      await page.getByText(`Raised the budget of ${box}.`).waitFor();
      const verdict = async () => (await daemon.client.getBox(box)).box.run?.verdict;
      await waitFor("it is done", async () => (await verdict()) === "done", 30_000);
      await page.close();
      await daemon.client.removeBox(box, { force: true, keep: false });
    });
  });
});
