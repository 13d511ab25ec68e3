/** Several terminals side by side: all are seen, one takes the keys. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestBrowser, becomesTrue, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { describeUnless } from "../support/skipping.ts";
import { startBox, startProgram } from "../support/web-terminal.ts";

const tileOf = (page: Page, box: string) => page.locator(`.terminal-tile[aria-label^="${box}"]`);

const tileShows = (page: Page, box: string, text: string) =>
  becomesTrue(`${box} shows ${text}`, async () => {
    const rows = await tileOf(page, box).locator(".xterm-rows > div").allTextContents();
    return rows.join("\n").replaceAll("\u00a0", " ").includes(text);
  });

describeUnless(noBrowser)("a grid of terminals", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
    for (const box of ["grid-one", "grid-two"]) {
      await startBox(daemon, box);
      await startProgram(daemon, box, "main-shell");
    }
  });
  afterAll(() => endAll(daemon, browser));

  it("shows every box, types only where the focus is, and keeps the size of the session", async () => {
    await using view = await signedInPage(browser, daemon, { path: "/terminals" });
    const { page } = view;
    for (const box of ["grid-one", "grid-two"]) await tileShows(page, box, "ready>");
    // With the focus on the tile its keys are the page's; Enter goes into the terminal.
    await tileOf(page, "grid-one").focus();
    await page.keyboard.type("echo no\n");
    await tileOf(page, "grid-one").locator(".xterm-helper-textarea:focus").waitFor();
    await tileOf(page, "grid-one").locator('[data-phase="live"]').waitFor();
    await becomesTrue(
      "it may be typed in",
      async () => (await tileOf(page, "grid-one").getByText("read-only").count()) === 0,
    );
    await page.keyboard.type("echo one-$((1+1)); stty size\n");
    await tileShows(page, "grid-one", "one-2");
    await tileShows(page, "grid-one", "24 80");
    expect(await tileOf(page, "grid-one").locator(".xterm-rows").textContent()).not.toContain("echo no");
    expect(await tileOf(page, "grid-two").getByText("read-only").count()).toBe(1);

    await page.keyboard.press("F6");
    await becomesTrue("the next one has the focus", () =>
      tileOf(page, "grid-two").evaluate((tile) => document.activeElement === tile),
    );
    await page.keyboard.press("Enter");
    await becomesTrue(
      "it may be typed in",
      async () => (await tileOf(page, "grid-two").getByText("read-only").count()) === 0,
    );
    await tileOf(page, "grid-two").locator('[data-phase="live"]').waitFor();
    await page.keyboard.type("echo two-$((1+1))\n");
    await tileShows(page, "grid-two", "two-2");
  });

  it("remembers which boxes somebody wants to see", async () => {
    await using view = await signedInPage(browser, daemon, { path: "/terminals" });
    const { page, origin } = view;
    await tileOf(page, "grid-two").waitFor();
    await page.getByText("2 of 2 shown").click();
    await page.getByRole("checkbox", { name: "grid-two" }).uncheck();
    await tileOf(page, "grid-two").waitFor({ state: "detached" });
    await page.goto(`${origin}/terminals`);
    await tileOf(page, "grid-one").waitFor();
    await page.getByText("1 of 2 shown").waitFor();
    expect(await tileOf(page, "grid-two").count()).toBe(0);
  });
});
