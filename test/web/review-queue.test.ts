/** Finished boxes one after the other, by keyboard; comments that reach the agent as one message; and races. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { onAgents, questionsSince, watch } from "../support/agents.ts";
import { type TestBrowser, becomesTrue, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

const files = { "src/a.js": "one\ntwo\nthree\nfour\nfive\nsix\n" };

describeUnless(noBrowser)("reviewing what agents have made", () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

  onAgents("with a model behind them", { fixtures: ["notebot"] }, (ground) => {
    secondTryAfresh(() => ground.daemon);
    const note = async (name: string) => {
      ground.play([{ text: `a note of ${name}`, usage: { input: 120, output: 7 } }]);
      const dir = await ground.project(files);
      const args = ["run", "notebot", "--name", name, "--keep", "--task", "Write a note."];
      const run = await watch(ground.daemon, args, { cwd: dir });
      expect(run.ended, run.stdout + run.stderr).toMatchObject({ verdict: "done" });
      return dir;
    };
    const names = async () => (await ground.daemon.client.listBoxes()).map(({ name }) => name);

    it("sends all comments to the agent as one message", async () => {
      const { daemon, model } = ground;
      await note("commented");
      await using opened = await signedInPage(browser, daemon, { path: "/box/commented/review" });
      const { page } = opened;
      const pane = page.getByRole("region", { name: "Changes" });
      await pane.getByText("a note of commented").first().waitFor();
      // By keyboard alone: the first line, and a comment on it; then one on the file.
      await page.keyboard.press("j");
      await pane.press("ArrowDown");
      await page.keyboard.press("c");
      await page.getByRole("textbox", { name: "Comment on line 1" }).fill("shorter, please");
      await page.keyboard.press("Control+Enter");
      await page.getByRole("note").filter({ hasText: "shorter, please" }).waitFor();
      await button(page, "Comment").first().click();
      await page.getByRole("textbox", { name: "Comment on the file" }).fill("and in English");
      await button(page, "Add comment").click();
      const sent = model.requests.length;
      ground.play([{ text: "done as you said" }]);
      await button(page, "Send 2 comments").click();
      await page.getByText("Sent 2 comments to the agent as one message.").waitFor();
      await becomesTrue("the agent has asked its model", async () => questionsSince(model, sent).length > 0);
      const questions = questionsSince(model, sent);
      expect(questions).toHaveLength(1);
      for (const text of ["shorter, please", "and in English"])
        expect(JSON.stringify(questions[0]?.body)).toContain(text);
      const { events } = await daemon.client.listEvents({ box: "commented", type: "review.sent", limit: 10 });
      expect(events.map(({ data }) => data)).toMatchObject([{ comments: [1, 2] }]);
      await becomesTrue(
        "its answer is done",
        async () => (await daemon.client.getBox("commented")).box.run?.verdict === "done",
      );
      // A page that is open asks for the box once more when it is gone.
      await page.close();
      await daemon.client.removeBox("commented", { force: true });
    });

    it("goes through finished boxes by keyboard: merge, discard, and the next comes up by itself", async () => {
      const { daemon } = ground;
      for (const name of ["first", "second", "third"]) await note(name);
      await using opened = await signedInPage(browser, daemon, { path: "/review" });
      const { page } = opened;
      const queue = page.getByRole("list", { name: "To review" }).getByRole("button");
      await becomesTrue("all three are in the queue", async () => (await queue.count()) === 3);
      const current = page.getByRole("list", { name: "To review" }).locator('[aria-current="true"] strong');
      const work = (name: string) =>
        page
          .getByRole("region", { name: `Work of ${name}` })
          .getByText(`a note of ${name}`)
          .first();
      await work("first").waitFor();
      await page.keyboard.press("J");
      await work("second").waitFor();
      expect(await current.textContent()).toBe("second");
      await page.keyboard.press("K");
      await work("first").waitFor();
      await page.keyboard.press("m");
      await page.getByRole("dialog").getByRole("button", { name: "Merge", exact: true }).click();
      await page.getByText(/Merged 1 file of first/).waitFor();
      await work("second").waitFor();
      await becomesTrue("the merged box has left the queue", async () => (await queue.count()) === 2);
      await page.keyboard.press("d");
      await page
        .getByRole("dialog", { name: "Discard second?" })
        .getByRole("button", { name: "Discard" })
        .click();
      await work("third").waitFor();
      await becomesTrue("the discarded box is gone", async () => !(await names()).includes("second"));
      // Back to the agent: it works again, so there is nothing to review until it is done.
      ground.play([{ text: "a better note" }]);
      await page.keyboard.press("b");
      await page.getByLabel("What should be different").fill("Write a better one.");
      await page.getByRole("dialog").getByRole("button", { name: "Send", exact: true }).click();
      await page.getByText("Sent back to the agent in third.").waitFor();
      await becomesTrue(
        "the agent has had another turn",
        async () => (await daemon.client.getBox("third")).box.run?.turns === 2,
      );
      await page.close();
      for (const name of ["first", "third"]) await daemon.client.removeBox(name, { force: true });
    });

    it("shows a race side by side, compares two runners, and keeps the one that is picked", async () => {
      const { daemon } = ground;
      ground.play([{ text: "raced", usage: { input: 10, output: 5 } }]);
      const dir = await ground.project(files);
      const raced = await daemon.cli(["race", "Write a note.", "--agents", "notebot", "--n", "2", "--json"], {
        cwd: dir,
        timeoutMs: 110_000,
      });
      expect(raced.code, raced.stderr).toBe(0);
      await using opened = await signedInPage(browser, daemon, { path: "/races" });
      const { page } = opened;
      await page.getByRole("link", { name: "race-1" }).click();
      for (const name of ["race-1-notebot-1", "race-1-notebot-2"]) {
        const runner = page.getByRole("article", { name });
        await runner.getByText("1 file", { exact: true }).waitFor();
        await runner.getByText("15 tokens").waitFor();
        await runner.getByText("done", { exact: true }).first().waitFor();
      }
      await page.getByRole("article", { name: "race-1-notebot-2" }).getByRole("button").click();
      await page.getByRole("region", { name: "Changes" }).getByText("raced").first().waitFor();
      await page.getByLabel("Compared with").selectOption("race-1-notebot-1");
      await page.getByText("Nothing has changed").waitFor();
      await button(page, "Pick this one").click();
      await page.getByRole("dialog").getByRole("button", { name: "Discard the others" }).click();
      await page.getByText("Kept race-1-notebot-2, discarded the others.").waitFor();
      expect(await names()).toEqual(["race-1-notebot-2"]);
      await page.getByRole("region", { name: "Changes" }).getByText("raced").first().waitFor();
    });
  });
});
