/** Very much work: thousands of files and a file of many lines stay usable, because only what is in sight is drawn. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { type TestBrowser, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { makeProject, worked } from "../support/review.ts";
import { describeUnless } from "../support/skipping.ts";

const files = 2_000;
const lines = 50_000;
/** A screen of rows with what is kept ready around it; never anything that grows with the work. */
const mostRows = 250;

describeUnless(noBrowser)("a review of very much work", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  beforeAll(async () => {
    daemon = await startDaemon();
    browser = await launchBrowser();
    const project = await makeProject(daemon);
    await worked(
      daemon,
      project,
      "large",
      `node -e 'const fs = require("fs");
         for (let i = 0; i < ${files}; i++) { const dir = "d" + String(i % 40).padStart(2, "0"); fs.mkdirSync(dir, { recursive: true });
           fs.writeFileSync(dir + "/f" + i + ".js", "export const n = " + i + ";\\n"); }
         let all = ""; for (let i = 1; i <= ${lines}; i++) all += "row " + i + "\\n"; fs.writeFileSync("zz.txt", all);
         fs.writeFileSync("wide.json", "x".repeat(40000) + "\\n");'`,
    );
  }, 120_000);
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await daemon?.[Symbol.asyncDispose]();
  });

  const rowsOf = (page: Page) => page.locator(".review-row").count();

  it("draws a bounded number of rows, whatever there is, and reaches the last line", async () => {
    await using opened = await signedInPage(browser, daemon, { path: "/box/large/review" });
    const { page } = opened;
    const pane = page.getByRole("region", { name: "Changes" });
    const list = page.getByRole("navigation", { name: "Changed files" });
    await page.getByText(`0 of ${(files + 2).toLocaleString("en-US")} viewed`).waitFor();
    await pane.locator(".review-file-head").first().waitFor();
    await page.getByRole("button", { name: "Show 2,002 files" }).click();
    await list.locator("li").first().waitFor();
    expect(await rowsOf(page)).toBeLessThan(mostRows);
    expect(await list.locator("li").count()).toBeLessThan(mostRows);

    // A line as long as a minified file says how much of it is not on the screen.
    await list.getByRole("button", { name: "wide.json" }).click();
    await pane.getByRole("button", { name: "38,500 more characters" }).waitFor();

    // A file far away is two steps: its name, and its lines.
    await page.getByRole("searchbox", { name: "Filter files" }).fill("zz.txt");
    await pane.getByRole("button", { name: `Show ${lines.toLocaleString("en-US")} changed lines` }).click();
    await pane.getByText("row 1", { exact: true }).waitFor();
    expect(await rowsOf(page)).toBeLessThan(mostRows);
    await pane.focus();
    await page.keyboard.press("End");
    await pane.getByText(`row ${lines}`, { exact: true }).waitFor();
    expect(await rowsOf(page)).toBeLessThan(mostRows);

    // The keyboard goes through the files, and their patches come as they are reached.
    await page.getByRole("searchbox", { name: "Filter files" }).fill("d39/");
    await pane.getByText("d39/f1039.js").first().waitFor();
    await pane.focus();
    for (let step = 0; step < 30; step += 1) await page.keyboard.press("j");
    const current = list.locator('[aria-current="true"]');
    const name = (await current.locator(".review-files-name").textContent()) ?? "";
    const number = /f(\d+)/.exec(name)?.[1];
    await pane
      .locator(".review-added")
      .filter({ hasText: `export const n = ${number};` })
      .waitFor();
    expect(await rowsOf(page)).toBeLessThan(mostRows);
  });
});
