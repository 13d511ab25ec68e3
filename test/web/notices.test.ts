/** Browser notifications: off until a person turns them on, then one for each change, however many tabs there are. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { type TestBrowser, becomesTrue, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { boxOn, shell } from "../support/network-ground.ts";
import { startWebReceiver } from "../support/notice-receivers.ts";
import { describeUnless } from "../support/skipping.ts";

/** Keeps what would be shown, and whether the browser was asked. */
function recordNotices(): void {
  const kept = { shown: [] as string[], asked: 0 };
  class Recorded extends EventTarget {
    static get permission() {
      return localStorage.getItem("test-permission") ?? "default";
    }
    static async requestPermission() {
      kept.asked += 1;
      localStorage.setItem("test-permission", "granted");
      return "granted";
    }
    constructor(title: string) {
      super();
      kept.shown.push(title);
    }
    close(): void {}
  }
  Object.assign(globalThis, { Notification: Recorded, testNotices: kept });
}

const kept = (page: Page) =>
  page.evaluate(
    () => (globalThis as unknown as { testNotices: { shown: string[]; asked: number } }).testNotices,
  );

describeUnless(noBrowser)("notices", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
    await boxOn(daemon, "asker", { default: "ask" });
  });
  afterAll(() => endAll(daemon, browser));

  /** A question that waits; ends with a no. */
  async function askAbout<T>(host: string, whileOpen: () => Promise<T>): Promise<T> {
    const running = shell(daemon, "asker", `curl -sS -m 55 http://${host}/`, 90_000);
    const { id } = await waitFor(`asker asks about ${host}`, async () =>
      (await daemon.client.listApprovals()).find((one) => one.host === host),
    );
    try {
      return await whileOpen();
    } finally {
      await daemon.client.answerApproval(id, { answer: "deny" });
      await running;
    }
  }

  it("says nothing before somebody has turned them on, and asks the browser only then", async () => {
    await using view = await signedInPage(browser, daemon, { before: recordNotices, path: "/settings" });
    const { page } = view;
    await page.getByRole("button", { name: "Turn on notifications" }).waitFor();
    await askAbout("one.test", () =>
      becomesTrue("the title counts it", async () => (await page.title()).startsWith("(1) ")),
    );
    await becomesTrue("the title forgets it", async () => !(await page.title()).startsWith("("));
    expect(await kept(page)).toMatchObject({ shown: [], asked: 0 });
    await page.getByRole("button", { name: "Turn on notifications" }).click();
    await page.getByRole("switch", { name: "When an agent is done" }).waitFor();
    expect(await kept(page)).toMatchObject({ asked: 1 });
  });

  it("says each change once, in one of several tabs, and not again after a reload", async () => {
    await using view = await signedInPage(browser, daemon, { before: recordNotices, path: "/settings" });
    const { page, context, origin } = view;
    await page.getByRole("button", { name: "Turn on notifications" }).click();
    const second = await context.newPage();
    await second.goto(`${origin}/inbox`);
    await second.getByText("Live", { exact: true }).waitFor();
    const shown = async () => (await Promise.all([page, second].map(kept))).flatMap((one) => one.shown);
    const isInBoth = (count: string) =>
      becomesTrue(`both titles say ${count}`, async () =>
        (await Promise.all([page.title(), second.title()])).every((title) => title.startsWith(count)),
      );
    await askAbout("two.test", async () => {
      await isInBoth("(1) ");
      await becomesTrue("somebody has said it", async () => (await shown()).length > 0);
    });
    expect(await shown()).toEqual(["asker asks"]);
    await askAbout("three.test", async () => {
      await isInBoth("(1) ");
      await becomesTrue("somebody has said it", async () => (await shown()).length > 1);
      // A tab that comes back reads on in the log, and has nothing new to say.
      await second.reload();
      await second.getByText("Live", { exact: true }).waitFor();
      await isInBoth("(1) ");
    });
    // Notices of the reloaded tab are gone with it; the record of them is kept for all tabs.
    const said = await page.evaluate(() => localStorage.getItem("agentbox-notices-told") ?? "[]");
    expect(JSON.parse(said)).toHaveLength(2);
  });

  it("can be turned off again", async () => {
    await using view = await signedInPage(browser, daemon, { before: recordNotices, path: "/settings" });
    const { page } = view;
    await page.getByRole("button", { name: "Turn on notifications" }).click();
    await page.getByRole("switch", { name: "When an agent waits for you" }).uncheck();
    await askAbout("five.test", () =>
      becomesTrue("the title counts it", async () => (await page.title()).startsWith("(1) ")),
    );
    expect((await kept(page)).shown).toEqual([]);
  });

  it.each([1280, 390])("sends notices elsewhere, from settings that are %i px wide", async (width) => {
    await using receiver = await startWebReceiver();
    await using view = await signedInPage(browser, daemon, { path: "/settings" });
    const { page } = view;
    await page.setViewportSize({ width, height: 900 });
    const panel = page.getByRole("region", { name: "Notices elsewhere" });
    await panel.getByText("No receivers yet.").waitFor();
    await panel.getByLabel("Address of the incoming webhook").fill(`${receiver.origin}/services/canary`);
    await panel.getByRole("button", { name: "Add and send a trial notice" }).click();
    const host = new URL(receiver.origin).host;
    await panel.getByRole("cell", { name: `Slack: ${host}` }).waitFor();
    expect(receiver.posts).toHaveLength(1);
    expect(await panel.innerText()).not.toContain("canary");
    await panel.getByRole("button", { name: `Send a trial notice to ${host}` }).click();
    await page.getByText("Trial notice sent").waitFor();
    await askAbout(`six-${width}.test`, () =>
      waitFor("it is told", () =>
        receiver.posts.some(({ value }) => JSON.stringify(value).includes("asker asks")),
      ),
    );
    await panel.getByRole("button", { name: `Remove ${host}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await panel.getByText("No receivers yet.").waitFor();
  });
});
