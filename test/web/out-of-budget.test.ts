/** An agent whose next request does not fit its budget: told with its numbers, raised from the inbox, and then it goes on. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { modelHost } from "../../src/contract/model/api.ts";
import { eventsOf, onAgents } from "../support/agents.ts";
import { type TestBrowser, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { shell } from "../support/network-ground.ts";
import { codeOf } from "../support/review.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

/** One question to the model, from a box that stays when it ends. */
const notebot =
  `OPENAI_BASE_URL=http://${modelHost}/openai/v1 OPENAI_API_KEY=sk-agentbox-placeholder ` +
  "/opt/agentbox/agents/notebot/notebot --model=gpt-5 --yes -- do-it";

describeUnless(noBrowser)("a box that is out of budget", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  onAgents("with a model behind it", { fixtures: ["notebot"] }, (ground) => {
    secondTryAfresh(() => ground.daemon);
    it.each([
      { width: 1280, height: 800, box: "poor-wide" },
      { width: 390, height: 780, box: "poor-slim" },
    ])("says what it needs, and goes on when it is raised at $width px", async ({ width, height, box }) => {
      const { daemon } = ground;
      ground.play([{ text: "a note", usage: { input: 12, output: 7 } }]);
      const flags = { budget: { box: { tokens: 5 } }, workspace: { mode: "empty" } } as const;
      await daemon.client.createBox({ name: box, flags: { agent: { name: "notebot" }, ...flags } });
      const refused = await shell(daemon, box, notebot);
      expect(refused.stdout).toContain("budget.exhausted");
      await waitFor(
        "it is paused",
        async () => (await daemon.client.getBox(box)).box.state.phase === "paused",
        30_000,
      );
      const [event] = await eventsOf(daemon, box, "budget.exhausted");
      const next = Number(event?.data["next"]);
      expect(next).toBeGreaterThan(5);
      const words = `The next request may use ${next.toLocaleString("en-US")} tokens; the limit is 5 tokens, of which 0 tokens are used.`;
      const raise = `agentbox budget raise ${box} --scope box --tokens ${next - 5}`;
      const resumed = await daemon.cli(["resume", box]);
      expect(codeOf(resumed)).toBe("budget.exhausted");
      expect(resumed.stderr).toContain(words);
      expect(resumed.stderr).toContain(raise);
      expect((await daemon.cli(["budget", "show", box])).stdout).toContain(
        `${words}\nGo on with: ${raise}\n`,
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
      const again = await shell(daemon, box, notebot);
      expect(again.code, again.stdout + again.stderr).toBe(0);
      await page.close();
      await daemon.client.removeBox(box, { force: true, keep: false });
    });
  });
});
