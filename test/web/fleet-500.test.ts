/**
 * The fleet with 500 boxes: the same things a person does with 10, in the same run, take about as long, and the page
 * holds only what is on the screen.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestBrowser, launchBrowser, noBrowser } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { type Interaction, interact, openFleet } from "./fleet-interactions.ts";
import { addBoxes, dropBoxes } from "../support/many-boxes.ts";
import { describeUnless } from "../support/skipping.ts";

const few = 10;
const many = 500;
/** Generous, because the machine may be busy with something else in one of the two moments. */
const mostTimesSlower = 6;
/** A screen of cards or rows, with some above and below. */
const mostInPage = 120;

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!;

describeUnless(noBrowser)("a fleet of 500", () => {
  let small: TestDaemon;
  let large: TestDaemon;
  let browser: TestBrowser;
  beforeAll(async () => {
    [small, large, browser] = await Promise.all([startDaemon(), startDaemon(), launchBrowser()]);
    await addBoxes(small, few - 1);
    await addBoxes(large, many - 1);
  });
  afterAll(async () => {
    await dropBoxes(large);
    await endAll(small, large, browser);
  });

  it.each(["cards", "table"] as const)("is as quick to use as one of 10, as %s", async (kind) => {
    await using ours = await openFleet(browser, large, kind, many);
    await using peer = await openFleet(browser, small, kind, few);
    for (const what of ["move", "search", "group", "select"] satisfies Interaction[]) {
      const times = { ours: [] as number[], peer: [] as number[] };
      for (let round = 0; round < 9; round += 1) {
        times.peer.push(await interact(peer.page, what));
        times.ours.push(await interact(ours.page, what));
      }
      const ratio = median(times.ours) / median(times.peer);
      expect
        .soft(ratio, `${what}: ${median(times.ours)} ms against ${median(times.peer)} ms`)
        .toBeLessThan(mostTimesSlower);
    }
  });

  it.each(["cards", "table"] as const)(
    "holds only what is on the screen, also at the end, as %s",
    async (kind) => {
      await using view = await openFleet(browser, large, kind, many);
      const { page } = view;
      const count = () => page.locator("[data-box]").count();
      expect(await count()).toBeLessThan(mostInPage);
      await page.getByLabel("Order").selectOption("name");
      await page.locator('[data-box="team-app-000"]').waitFor();
      await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
      // The last by name.
      await page.locator('[data-box="team-web-496"]').waitFor();
      expect(await page.locator('[data-box="team-app-000"]').count()).toBe(0);
      expect(await count()).toBeLessThan(mostInPage);
    },
  );
});
