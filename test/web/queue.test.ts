/** The queue's page: tasks are added, moved, paused, tried again and taken off, on a desk and on a phone. */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type AgentGround, boxOf, onAgents } from "../support/agents.ts";
import {
  type TestBrowser,
  becomesTrue,
  launchBrowser,
  noBrowser,
  settled,
  signedInPage,
} from "../support/browser.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

const tasksIn = (page: Page, section: string) =>
  page.getByRole("region", { name: section }).getByRole("listitem");
const namesIn = (page: Page, section: string): Promise<string[]> =>
  tasksIn(page, section).evaluateAll((items) => items.map((item) => item.getAttribute("aria-label") ?? ""));
const waiting = "Waiting and running";

/** Whatever an earlier case has left. */
async function empty({ daemon: { client } }: AgentGround): Promise<void> {
  await client.changeQueue({ isPaused: true });
  await becomesTrue("nothing runs", async () => {
    const { tasks } = await client.listQueue();
    return tasks.every(({ state }) => state !== "running" && state !== "starting");
  });
  const ids = (await client.listQueue()).tasks.map(({ id }) => id);
  if (ids.length > 0) await client.removeQueued({ ids });
  for (const { name } of await client.listBoxes()) await client.removeBox(name, { force: true });
}

async function fill(page: Page, dir: string, tasks: readonly string[]): Promise<void> {
  await page.getByLabel("Tasks", { exact: true }).fill(tasks.join("\n"));
  await page.getByLabel("Agent").selectOption("notebot");
  await page.getByLabel("Project directory").fill(dir);
  await page.getByRole("button", { name: /^Add / }).click();
}

describeUnless(noBrowser)("the queue's page", () => {
  onAgents("with an agent", { fixtures: ["notebot"] }, (ground) => {
    secondTryAfresh(() => ground.daemon);
    let browser: TestBrowser;
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterAll(() => browser?.[Symbol.asyncDispose]());
    beforeEach(() => empty(ground));

    it.each([1280, 390])("adds, orders, runs and reviews, at %s px", async (width) => {
      const { daemon } = ground;
      ground.play([{ text: "worked", usage: { input: 10, output: 5 } }]);
      const dir = await ground.project();
      await using view = await signedInPage(browser, daemon, { path: "/queue", width, height: 800 });
      const { page } = view;
      await settled(page);
      await page.getByText("The queue is paused.").waitFor();
      await fill(page, dir, ["first", "", "second", "third"]);
      await becomesTrue("all are there", async () => (await namesIn(page, waiting)).length === 3);
      expect(await namesIn(page, waiting)).toEqual(["first", "second", "third"]);

      await page.getByRole("button", { name: "Move up: third" }).click();
      await becomesTrue("third is second", async () => (await namesIn(page, waiting))[1] === "third");
      await page.getByRole("button", { name: "Move down: first" }).click();
      await becomesTrue("first is second", async () => (await namesIn(page, waiting))[1] === "first");
      if (width > 1000) {
        await tasksIn(page, waiting).nth(2).dragTo(tasksIn(page, waiting).nth(0));
        await becomesTrue("second is first", async () => (await namesIn(page, waiting))[0] === "second");
      }
      await page.getByRole("button", { name: "Remove from the queue: second" }).click();
      await becomesTrue("two are left", async () => (await namesIn(page, waiting)).length === 2);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      await page.evaluate(axe.source);
      const serious = await page.evaluate(async () => {
        const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
        const { violations } = await inPage.run(document, { resultTypes: ["violations"] });
        return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
      });
      expect(serious).toEqual([]);

      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByText("2 boxes are ready for review.").waitFor();
      expect((await namesIn(page, "Ended")).toSorted()).toEqual(["first", "third"]);
      const { tasks } = await daemon.client.listQueue();
      for (const { box, task } of tasks) {
        expect((await boxOf(daemon, box!)).run?.task).toBe(task);
        await page.getByRole("link", { name: box!, exact: true }).waitFor();
      }
      await page.getByRole("listitem", { name: "first" }).getByRole("button", { name: "Retry" }).click();
      await becomesTrue("it ran again", async () => (await daemon.client.listBoxes()).length >= 3);
      await page.getByText("2 boxes are ready for review.").waitFor();
    });

    it.each([1280, 390])(
      "sets what all tasks may cost together, and takes it away, at %s px",
      async (width) => {
        const { client } = ground.daemon;
        await client.changeQueue({ total: {} });
        await using view = await signedInPage(browser, ground.daemon, { path: "/queue", width, height: 800 });
        const { page } = view;
        await settled(page);
        const total = page.getByLabel("Total budget, in US dollars");
        await total.fill("12.5");
        await total.press("Enter");
        await becomesTrue("it is set", async () => (await client.listQueue()).settings.total?.usd === 12.5);
        await total.fill("");
        await total.press("Enter");
        await becomesTrue("it is gone", async () => (await client.listQueue()).settings.total === undefined);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      },
    );

    it("refuses what could not start, and takes a task from the form of a new box", async () => {
      const { daemon } = ground;
      await using view = await signedInPage(browser, daemon, { path: "/queue" });
      const { page } = view;
      await settled(page);
      await fill(page, "/no/such/directory", ["lost"]);
      await page.getByRole("alert").getByText("/no/such/directory").waitFor();
      expect((await daemon.client.listQueue()).tasks).toEqual([]);

      const dir = await ground.project();
      await page.getByRole("link", { name: "With a budget, a name or other settings" }).click();
      await settled(page);
      await page.getByLabel("Task").fill("From the form.");
      await page.getByLabel("Project directory").fill(dir);
      await page.getByLabel("Agent", { exact: true }).selectOption("notebot");
      const add = page.getByRole("button", { name: "Add to queue" });
      await becomesTrue("it can be added", () => add.isEnabled());
      await add.click();
      await becomesTrue("the queue is open", async () => new URL(page.url()).pathname === "/queue");
      await becomesTrue("it waits", async () => (await namesIn(page, waiting)).includes("From the form."));
      expect((await daemon.client.listQueue()).tasks).toMatchObject([
        { task: "From the form.", agent: "notebot", projectDir: dir, state: "waiting" },
      ]);
    });
  });
});
