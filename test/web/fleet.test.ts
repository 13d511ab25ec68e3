/** The fleet view against a real daemon: what it shows, that it stays true, and what the keyboard can do. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type TestBrowser,
  becomesTrue,
  launchBrowser,
  noBrowser,
  settled,
  signedInPage,
} from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { endedRun, memoryBox, modelRecord, withStore } from "../support/many-boxes.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

const evil = '<img src=x onerror="document.title=1">';

const boxAt = (page: Page, name: string) => page.locator(`[data-box="${name}"]`);
const says = (page: Page, name: string, text: string | RegExp) =>
  boxAt(page, name).filter({ hasText: text }).waitFor();
const shownNames = (page: Page) =>
  page.locator("[data-box]").evaluateAll((all) => all.map((one) => one.getAttribute("data-box")));
const isAtBox = (page: Page, name: string) =>
  becomesTrue(`the keyboard is at ${name}`, async () =>
    page.locator(`#fleet-box-${name}`).evaluate((element) => element === document.activeElement),
  );

/** Marks this very document, so that a reload shows. */
const mark = (page: Page) => page.evaluate(() => void (document.body.dataset["mark"] = "same"));
const isSame = (page: Page) => page.evaluate(() => document.body.dataset["mark"] === "same");

/** Two boxes of a team, one that has finished with work to look at, and one that asks. */
async function makeFleet(daemon: TestDaemon): Promise<void> {
  const projectDir = join(daemon.scratch, evil);
  await mkdir(projectDir);
  for (const name of ["team-app-backend", "team-web"]) await memoryBox(daemon, name);
  await memoryBox(daemon, "solo", { projectDir });
  await daemon.stop();
  await withStore(daemon, async (store) => {
    const solo = (await store.findBox("solo"))!;
    await store.recordModel([modelRecord(solo)]);
    await store.commit({
      update: { ...solo, run: { ...endedRun, verdict: "done" } },
      review: [
        {
          kind: "checkpoint",
          key: "1",
          value: {
            box: solo.name,
            incarnation: solo.incarnation,
            number: 1,
            atMs: 1,
            reason: "turn",
            commit: "c",
            tree: "t",
            head: "h",
            totals: { files: 7, added: 1, deleted: 1 },
            bytes: 1,
          },
        },
      ],
      events: [],
    });
  });
  await daemon.start();
  await daemon.client.startBox("team-web");
  await ask(daemon, "team-web");
}

/** Its agent waits for a person. */
const ask = (daemon: TestDaemon, name: string) =>
  withStore(daemon, async (store) => {
    const box = (await store.findBox(name))!;
    const run = { mode: "interactive", turns: 1, starts: 1, state: "waiting", stateSinceMs: 1 } as const;
    await store.commit({ update: { ...box, run }, events: [] });
  });

describeUnless(noBrowser)("the fleet", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  secondTryAfresh(() => daemon);
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
  });
  afterAll(() => endAll(daemon, browser));

  it("helps somebody who has no box, and shows the first one when it is made", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page } = view;
    await page.getByRole("heading", { name: "No boxes yet" }).waitFor();
    await page.getByRole("link", { name: "Create your first box" }).waitFor();
    await mark(page);
    await memoryBox(daemon, "first");
    await boxAt(page, "first").waitFor();
    await daemon.client.removeBox("first");
    await page.getByRole("heading", { name: "No boxes yet" }).waitFor();
    expect(await isSame(page)).toBe(true);
  });

  it("says what each box is, and first of all what waits for the person", async () => {
    await makeFleet(daemon);
    await using view = await signedInPage(browser, daemon);
    const { page } = view;
    await page.getByRole("heading", { name: "Needs you: 2" }).waitFor();
    const answer = page.getByRole("link", { name: "Answer: team-web" });
    expect(await answer.getAttribute("href")).toBe("/box/team-web/terminal");
    expect(await page.getByRole("link", { name: "Review: solo" }).getAttribute("href")).toBe(
      "/box/solo/review",
    );
    await says(page, "team-web", "waiting for you");
    await says(page, "solo", /done.*shell.*7.*\$1\.23.*15\.5k tokens/s);
    // A directory's name is text, in any form.
    await says(page, "solo", "<img src=x onerror=");
    expect(await page.locator(".fleet img").count()).toBe(0);
    // A running box has its use of the host.
    await boxAt(page, "team-web")
      .getByRole("img", { name: /^Processor, now/ })
      .waitFor();
    await boxAt(page, "team-web").getByText(/left$/).waitFor();
  });

  it("follows what happens without being loaded again", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page } = view;
    await says(page, "team-app-backend", "stopped");
    await mark(page);
    await daemon.client.startBox("team-app-backend");
    await says(page, "team-app-backend", "running");
    await daemon.client.stopBox("team-app-backend");
    await says(page, "team-app-backend", "stopped");
    await memoryBox(daemon, "team-new");
    await boxAt(page, "team-new").waitFor();
    await daemon.client.removeBox("team-new");
    await boxAt(page, "team-new").waitFor({ state: "detached" });
    expect(await isSame(page)).toBe(true);
  });

  it("says that the connection is lost, and is right again after the daemon came back", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page } = view;
    await says(page, "team-web", "waiting for you");
    await mark(page);
    await daemon.stop();
    await page.getByText(/Connection lost/).waitFor();
    // The old list is still shown; boxes of this runtime end with the daemon, so none of it can be true by chance.
    await boxAt(page, "team-web").waitFor();
    await daemon.start();
    await memoryBox(daemon, "team-late");
    await page.getByText("Live", { exact: true }).waitFor();
    await boxAt(page, "team-late").waitFor();
    await becomesTrue("the box that ended is shown as ended", async () =>
      /stopped|failed/.test((await boxAt(page, "team-web").textContent()) ?? ""),
    );
    await daemon.client.removeBox("team-late");
    await boxAt(page, "team-late").waitFor({ state: "detached" });
    expect(await isSame(page)).toBe(true);
  });

  it("searches, filters, orders and groups", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page } = view;
    await boxAt(page, "solo").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("backend");
    await becomesTrue(
      "only what was searched is shown",
      async () => (await shownNames(page)).join() === "team-app-backend",
    );
    await page.keyboard.press("Escape");
    await boxAt(page, "solo").waitFor();
    await page.getByRole("button", { name: /^done/ }).click();
    await becomesTrue("only what is done is shown", async () => (await shownNames(page)).join() === "solo");
    await page.getByLabel("Search boxes").fill("no such box");
    await page.getByRole("button", { name: /^Show all/ }).click();
    await page.getByLabel("Order").selectOption("name");
    await becomesTrue(
      "all are shown, by name",
      async () => (await shownNames(page)).join() === "solo,team-app-backend,team-web",
    );
    await page.getByLabel("Group by name").check();
    const group = page.getByRole("button", { name: "team › app 1" });
    await group.click();
    await boxAt(page, "team-app-backend").waitFor({ state: "detached" });
    await group.click();
    await boxAt(page, "team-app-backend").waitFor();
    await page.getByLabel("Project").waitFor();
    expect(new Set(await shownNames(page))).toEqual(new Set(["solo", "team-app-backend", "team-web"]));
  });

  it("remembers table or cards, and is led by the keyboard alone", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page } = view;
    await boxAt(page, "solo").waitFor();
    await page.keyboard.press("v");
    await page.getByRole("table", { name: "Boxes" }).waitFor();
    await page.reload();
    await page.getByRole("table", { name: "Boxes" }).waitFor();
    await page.getByLabel("Order").selectOption("name");
    await page.locator(".app-main").focus();
    await page.keyboard.press("j");
    await isAtBox(page, "solo");
    await page.keyboard.press("j");
    await isAtBox(page, "team-app-backend");
    await page.keyboard.press("k");
    await isAtBox(page, "solo");
    await page.keyboard.press("j");
    await isAtBox(page, "team-app-backend");
    await page.keyboard.press("u");
    await says(page, "team-app-backend", "running");
    await page.keyboard.press("s");
    await says(page, "team-app-backend", "stopped");
    await page.keyboard.press("Enter");
    await becomesTrue("the box is open", async () => page.url().endsWith("/box/team-app-backend"));
    expect((await daemon.client.getBox("team-app-backend")).box.state.phase).toBe("stopped");
  });

  it("does something with several boxes at once, and asks before it removes", async () => {
    for (const name of ["spare-one", "spare-two"]) await memoryBox(daemon, name);
    await using view = await signedInPage(browser, daemon);
    const { page } = view;
    await page.getByLabel("Search boxes").fill("spare");
    await becomesTrue("both are shown", async () => (await shownNames(page)).length === 2);
    await page.getByLabel("Select spare-one").check();
    await page.keyboard.press("a");
    const bar = page.getByRole("region", { name: "Selected boxes" });
    await bar.getByText("2 selected").waitFor();
    await bar.getByRole("button", { name: "Start", exact: true }).click();
    await says(page, "spare-one", "running");
    await says(page, "spare-two", "running");
    await page.keyboard.press("d");
    const question = page.getByRole("dialog", { name: "Remove 2 boxes?" });
    await question.getByRole("button", { name: "Cancel" }).click();
    expect((await daemon.client.listBoxes()).filter(({ name }) => name.startsWith("spare"))).toHaveLength(2);
    await bar.getByRole("button", { name: "Remove" }).click();
    await question.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("heading", { name: "No box matches" }).waitFor();
    expect((await daemon.client.listBoxes()).filter(({ name }) => name.startsWith("spare"))).toEqual([]);
  });

  it.each(["cards", "table"] as const)("fits a phone as %s", async (kind) => {
    await using view = await signedInPage(browser, daemon, { width: 360, height: 740 });
    const { page } = view;
    await boxAt(page, "solo").waitFor();
    await page.getByRole("button", { name: kind === "table" ? "Table" : "Cards" }).click();
    await settled(page);
    await boxAt(page, "solo").waitFor();
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBeLessThanOrEqual(0);
  });
});
