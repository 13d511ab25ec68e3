/** The rules of every page: nothing serious for axe, no sideways scroll, nothing that moves while it loads. */
import axe from "axe-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type TestBrowser,
  type TestPage,
  becomesTrue,
  launchBrowser,
  noBrowser,
  settled,
  signedInPage,
} from "../support/browser.ts";
import type { TestDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { describeUnless } from "../support/skipping.ts";
import { addresses, startWebGround } from "../support/web-ground.ts";

/** Sums all movement that no input caused. */
const watchShifts = (): void => {
  const shifts = { sum: 0, sources: [] as string[] };
  Object.assign(globalThis, { agentboxShifts: shifts });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as unknown as {
      value: number;
      hadRecentInput: boolean;
      sources?: { node?: { className?: unknown; nodeName?: string } }[];
    }[]) {
      if (entry.hadRecentInput) continue;
      shifts.sum += entry.value;
      for (const { node } of entry.sources ?? [])
        shifts.sources.push(`${entry.value.toFixed(3)} ${node?.nodeName}.${String(node?.className)}`);
    }
  });
  observer.observe({ type: "layout-shift", buffered: true });
};

interface Shifts {
  readonly sum: number;
  readonly sources: readonly string[];
}

const shiftsOf = ({ page }: TestPage) =>
  page.evaluate(() => (globalThis as unknown as { agentboxShifts: Shifts }).agentboxShifts);

const findings = ({ page }: TestPage) =>
  page.evaluate(async () => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await inPage.run(document, { resultTypes: ["violations"] });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .slice(0, 3)
            .map(({ html }) => html.slice(0, 160))
            .join(" | ")}`,
      );
  });

const widthOf = ({ page }: TestPage) =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return { scrollWidth, clientWidth };
  });

describeUnless(noBrowser)("every page", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  const views: TestPage[] = [];
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startWebGround(), launchBrowser()]);
    for (const width of [1280, 360]) {
      const view = await signedInPage(browser, daemon, { width, before: watchShifts });
      await view.context.addInitScript({ content: axe.source });
      views.push(view);
    }
  });
  afterAll(() => endAll(daemon, browser, ...views));

  it.each(addresses)("%s is accessible and stays in place, wide and narrow, light and dark", async (path) => {
    for (const view of views) {
      const { page } = view;
      await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
      await page.goto(view.origin + path);
      await settled(page);
      const where = `${path} at ${page.viewportSize()?.width} px`;
      const { scrollWidth, clientWidth } = await widthOf(view);
      expect(scrollWidth, `${where} scrolls sideways`).toBeLessThanOrEqual(clientWidth);
      expect(await findings(view), `${where}, light`).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
      await becomesTrue(
        "the page is dark",
        async () => (await page.locator("html").getAttribute("data-theme")) === "dark",
      );
      expect(await findings(view), `${where}, dark`).toEqual([]);
      const { sum, sources } = await shiftsOf(view);
      expect(sum, `${where} moved: ${sources.join("; ")}`).toBeLessThan(0.05);
    }
  });

  it("axe would find a button without a name and text that nobody can read", async () => {
    const view = views[0]!;
    await view.page.goto(`${view.origin}/cost`);
    await settled(view.page);
    await view.page.evaluate(() => {
      const button = document.createElement("button");
      const text = document.createElement("p");
      text.textContent = "Can you read this?";
      text.style.color = "#cccccc";
      text.style.background = "#ffffff";
      document.querySelector("main")?.append(button, text);
    });
    expect((await findings(view)).map((one) => one.split(":")[0])).toEqual(
      expect.arrayContaining(["button-name", "color-contrast"]),
    );
  });

  it("everything can be reached with the Tab key, and where it is can be seen", async () => {
    const { page, origin } = views[0]!;
    await page.goto(`${origin}/new`);
    await settled(page);
    const seen = new Set<string>();
    for (let step = 0; step < 14; step += 1) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement | null;
        const { outlineStyle, outlineWidth } = getComputedStyle(element ?? document.body);
        const name = element?.getAttribute("aria-label") ?? element?.textContent ?? "";
        return { name: `${element?.nodeName} ${name.slice(0, 40)}`, outlineStyle, outlineWidth };
      });
      // Past the last one comes the browser itself.
      if (focused.name.startsWith("BODY")) break;
      seen.add(focused.name);
      expect(`${focused.outlineStyle} ${focused.outlineWidth}`, focused.name).not.toMatch(/none|^\S+ 0px/);
    }
    expect(seen.size).toBeGreaterThan(10);
  });
});
