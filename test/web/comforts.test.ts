/** Small things of every page: its keys, the way to a page by words, the focus, and what a phone has of all that. */
import axe from "axe-core";
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
import type { TestDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { describeUnless } from "../support/skipping.ts";
import { addresses, doneBox, liveBox, startWebGround } from "../support/web-ground.ts";

const widths = [1280, 390];

/** Where an element is on the screen. */
const placeOf = (page: Page, selector: string) =>
  page.locator(selector).evaluate((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { left, right, top, bottom, width: document.documentElement.clientWidth };
  });

describeUnless(noBrowser)("comforts of the page", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startWebGround(), launchBrowser()]);
  });
  afterAll(() => endAll(daemon, browser));

  it.each(widths)("shows the keys with ? on every page, readable in the dark, at %i px", async (width) => {
    await using view = await signedInPage(browser, daemon, { width, theme: "dark" });
    const { page, context, origin } = view;
    await context.addInitScript({ content: axe.source });
    for (const address of addresses.filter((one) => !one.endsWith("/terminal"))) {
      await page.goto(origin + address);
      await settled(page);
      await page.locator(".app-main:not(.app-arriving)").waitFor();
      await page.keyboard.press("?");
      const dialog = page.getByRole("dialog", { name: "Keys" });
      await dialog.waitFor();
      const findings = await page.evaluate(async () => {
        const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
        const { violations } = await inPage.run("dialog[open]", { resultTypes: ["violations"] });
        return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
      });
      expect(findings, address).toEqual([]);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    }
  });

  it.each(widths)("goes to a box by words in any order, at %i px", async (width) => {
    await using view = await signedInPage(browser, daemon, { width });
    const { page } = view;
    await page.locator(`[data-box="${liveBox}"]`).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to a page or a box" }).fill("live shop");
    await page
      .getByRole("option", { name: new RegExp(`^${liveBox}`) })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: liveBox, level: 1 }).waitFor();
  });

  it.each(widths)("gives a new shell the focus, at %i px", async (width) => {
    await using view = await signedInPage(browser, daemon, { width, path: `/box/${liveBox}/terminal` });
    const { page } = view;
    await page.getByRole("button", { name: "New shell" }).click();
    await becomesTrue("the terminal has the focus", () =>
      page.evaluate(() => document.activeElement?.closest(".xterm") !== null),
    );
    const mark = `typed-at-${width}`;
    await page.keyboard.type(`echo ${mark} > ${mark}\n`);
    await becomesTrue("what was typed has run", async () => {
      const { code } = await daemon.cli(["exec", liveBox, "--no-stdin", "--", "test", "-s", mark]);
      return code === 0;
    });
  });

  it("has on a phone: what needs the user beside the menu, all actions, and the pages of a box in reach", async () => {
    await using view = await signedInPage(browser, daemon, { width: 390, height: 700 });
    const { page, origin } = view;
    await page.getByRole("link", { name: /^Inbox, \d+ for you$/ }).click();
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    await page.goto(`${origin}/box/${doneBox}/timeline`);
    await settled(page);
    const remove = page.getByRole("button", { name: "Remove" });
    expect(await remove.isVisible()).toBe(false);
    await page.getByRole("button", { name: "More actions" }).click();
    await remove.waitFor();
    await page.goto(`${origin}/box/${doneBox}/settings`);
    await settled(page);
    const tab = '.parts-tab[aria-current="page"]';
    await becomesTrue("the tab of this page is in sight", async () => {
      const { left, right, width } = await placeOf(page, tab);
      return left >= 0 && right <= width;
    });
    await page.mouse.wheel(0, 10_000);
    await becomesTrue("the page has scrolled", () => page.evaluate(() => scrollY > 100));
    expect((await placeOf(page, tab)).top).toBeLessThan(100);
  });

  it("keeps the dangers of a review on the page of a phone", async () => {
    await using view = await signedInPage(browser, daemon, {
      width: 390,
      height: 800,
      path: `/box/${doneBox}/review`,
    });
    const { page } = view;
    await page.getByRole("button", { name: /to review/ }).click();
    const list = await placeOf(page, ".review-danger-kinds");
    expect(list.left).toBeGreaterThanOrEqual(0);
    expect(list.right).toBeLessThanOrEqual(list.width);
  });
});
