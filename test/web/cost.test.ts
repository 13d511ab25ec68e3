/** The cost page: sums by day, box, agent, project and model, budgets and what hit them, and the download. */
import { readFile } from "node:fs/promises";
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
import { memoryBox, modelRecord, withStore } from "../support/many-boxes.ts";
import { describeUnless } from "../support/skipping.ts";

const dayMs = 86_400_000;
const evilModel = '=HYPERLINK("x")<b>';

/** Two boxes: one has spent today and last week, the other long ago, with a model without a known price. */
async function spend(daemon: TestDaemon): Promise<void> {
  await daemon.client.createBox({
    name: "shop-api",
    projectDir: daemon.scratch,
    flags: { runtime: { name: "memory" }, workspace: { mode: "empty" }, budget: { box: { usd: 10 } } },
    start: false,
  });
  await memoryBox(daemon, "docs");
  await daemon.stop();
  await withStore(daemon, async (store) => {
    const [shop, docs] = [(await store.findBox("shop-api"))!, (await store.findBox("docs"))!];
    const nowMs = Date.now();
    await store.recordModel([
      modelRecord(shop, { costMicroUsd: 8_000_000, projectDir: shop.projectDir, agent: "claude" }),
      modelRecord(shop, {
        costMicroUsd: 1_500_000,
        atMs: nowMs - 5 * dayMs,
        projectDir: shop.projectDir,
        agent: "claude",
      }),
    ]);
    const { costMicroUsd: _unknown, ...unpriced } = modelRecord(docs, {
      model: evilModel,
      atMs: nowMs - 60 * dayMs,
    });
    await store.recordModel([unpriced]);
    const data = {
      scope: "box",
      layer: "flag",
      unit: "microUsd",
      used: 8_000_000,
      limit: 10_000_000,
      meter: "m",
    };
    await store.commit({
      events: [{ atMs: nowMs, type: "budget.warned", box: shop.name, incarnation: shop.incarnation, data }],
    });
  });
  await daemon.start();
}

describeUnless(noBrowser)("the cost page", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
  });
  afterAll(() => endAll(daemon, browser));

  it("says so when nothing was spent", async () => {
    await using view = await signedInPage(browser, daemon, { path: "/cost" });
    await view.page.getByRole("heading", { name: "No request to a model in this time" }).waitFor();
    await view.page.getByText("No limit has been reached yet.").waitFor();
    expect(await view.page.getByText("$9.50").count()).toBe(0);
  });

  it("sums up by day and by everything else, in the time that was chosen", async () => {
    await spend(daemon);
    await using view = await signedInPage(browser, daemon, { path: "/cost" });
    const { page } = view;
    await settled(page);
    const cost = page.locator(".cost-tiles .parts-card").first();
    await cost.getByText("$9.50").waitFor();
    await page.getByRole("img", { name: /^\$9\.50 in 30 days/ }).waitFor();
    const byDay = page.getByRole("table", { name: "Cost by day" });
    expect(await byDay.getByRole("row").count()).toBe(3);
    await page.getByRole("button", { name: "Today" }).click();
    await cost.getByText("$8.00").waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await becomesTrue("all of it is shown", async () => (await byDay.getByRole("row").count()) === 4);
    await page.getByText(/1 requests without a known price/).waitFor();
    const table = (by: string) => page.getByRole("table", { name: `Cost by ${by}`, exact: true });
    await table("box").getByRole("link", { name: "shop-api" }).waitFor();
    for (const [by, key] of [
      ["agent", "claude"],
      ["project", daemon.scratch],
      ["model", evilModel],
    ] as const) {
      await page.getByRole("button", { name: by, exact: true }).click();
      await table(by).getByRole("rowheader", { name: key }).waitFor();
    }
    // A price that is not known is not free.
    const unknown = table("model").getByRole("row").filter({ hasText: evilModel });
    expect(await unknown.textContent()).toContain("$?");
    await page
      .getByLabel("To", { exact: true })
      .fill(new Date(Date.now() - 30 * dayMs).toISOString().slice(0, 10));
    await page
      .getByLabel("From", { exact: true })
      .fill(new Date(Date.now() - 90 * dayMs).toISOString().slice(0, 10));
    await becomesTrue(
      "only the old request is shown",
      async () => (await byDay.getByRole("row").count()) === 2,
    );
  });

  it("downloads what it shows, and no formula", async () => {
    await using view = await signedInPage(browser, daemon, { path: "/cost" });
    const { page } = view;
    await settled(page);
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByRole("button", { name: "model", exact: true }).click();
    await page.getByRole("rowheader", { name: evilModel }).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV by model" }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("agentbox-cost-by-model.csv");
    const lines = (await readFile(await file.path(), "utf8")).split("\r\n");
    expect(lines[0]).toMatch(/^model,requests,input_tokens/);
    expect(lines[1]).toBe("claude-sonnet-4-5,2,24000,6912,12000,0,0,9.500000,0,0");
    expect(lines[2]).toMatch(/^"'=HYPERLINK/);
  });

  it("shows limits, how much of them is used, and what was said about them", async () => {
    await using view = await signedInPage(browser, daemon, { path: "/cost", width: 360, height: 740 });
    const { page } = view;
    await page.getByRole("meter", { name: "shop-api: $9.50 of $10.00" }).waitFor();
    const log = page.getByRole("table", { name: /^What happened to budgets/ });
    await log.getByText("$8.00 of $10.00 for the box").waitFor();
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBeLessThanOrEqual(0);
  });
});
