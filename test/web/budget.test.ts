/** The cost of the first load: bytes over the wire, page by page, and time. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestBrowser, launchBrowser, noBrowser, settled, signedInPage } from "../support/browser.ts";
import type { TestDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { describeUnless } from "../support/skipping.ts";
import { addresses, startWebGround } from "../support/web-ground.ts";

const limitBytes = 300 * 1024;
/** Measured: about 3; a page that waits for its longest patience needs more than this. */
const maxSums = 12;
/** The terminal's own code comes with the pages that have one. */
const hasTerminal = (path: string) => path.includes("/terminal");

describeUnless(noBrowser)("the dashboard's budget", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startWebGround(), launchBrowser()]);
  });
  afterAll(() => endAll(daemon, browser));

  it("no page needs more than 300 kB for its first load, scripts and styles compressed", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page, origin, context } = view;
    const sizes: Record<string, number> = {};
    for (const path of addresses) {
      const cdp = await context.newCDPSession(page);
      await cdp.send("Network.enable");
      await cdp.send("Network.setCacheDisabled", { cacheDisabled: true });
      let bytes = 0;
      const encodings = new Set<string>();
      const assets = new Map<string, string>();
      cdp.on("Network.responseReceived", ({ requestId, response }) => {
        const { pathname } = new URL(response.url);
        if (!/\.(js|css|svg)$/.test(pathname) && pathname !== path) return;
        assets.set(requestId, pathname);
        if (/\.(js|css)$/.test(pathname)) encodings.add(response.headers["content-encoding"] ?? "none");
      });
      cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
        if (assets.has(requestId)) bytes += encodedDataLength;
      });
      await page.goto(origin + path);
      await settled(page);
      await cdp.detach();
      expect([...encodings], path).toEqual(["gzip"]);
      sizes[path] = bytes;
    }
    const first = Object.entries(sizes).filter(([path]) => !hasTerminal(path));
    expect(Math.min(...Object.values(sizes))).toBeGreaterThan(50 * 1024);
    expect(first.filter(([, bytes]) => bytes > limitBytes)).toEqual([]);
  });

  it("the first page is shown in the time of a few fixed sums of the same machine", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page, origin } = view;
    const ratios: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await page.goto("about:blank");
      await page.goto(origin);
      await page.locator(".app-main h1").waitFor();
      // A ratio, because a slow machine is slow at both.
      ratios.push(
        await page.evaluate(() => {
          const shownMs = performance.now();
          let sum = 0;
          for (let at = 0; at < 40_000_000; at += 1) sum = (sum + at * 31) % 1_000_003;
          const sumMs = performance.now() - shownMs;
          return sum < 0 ? Infinity : shownMs / sumMs;
        }),
      );
    }
    expect(Math.min(...ratios)).toBeLessThan(maxSums);
  });
});
