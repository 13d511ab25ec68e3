/** Ways through the dashboard: palette, menu on a phone, theme, deep links, and being signed out. */
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
import { liveBox, startWebGround } from "../support/web-ground.ts";

describeUnless(noBrowser)("ways through the dashboard", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startWebGround(), launchBrowser()]);
  });
  afterAll(() => endAll(daemon, browser));

  it("a one-time link signs in once, leaves no code in the address, and a used one says so", async () => {
    const { url } = await daemon.client.openLink();
    {
      await using view = await signedInPage(browser, daemon, { url });
      expect(view.page.url()).toBe(`${view.origin}/`);
      await view.page.reload();
      await view.page.getByRole("link", { name: "Inbox" }).waitFor();
    }
    const context = await browser.browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    await page
      .getByText(/opened already/)
      .first()
      .waitFor();
    expect(await page.locator(".app-main").count()).toBe(0);
    await context.close();
  });

  it("Ctrl-K finds a box by a few letters and goes there with Enter", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page } = view;
    await settled(page);
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: /go to/i });
    await field.fill("swl");
    await page
      .getByRole("option", { name: new RegExp(liveBox) })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await becomesTrue("the box is shown", async () => page.url().endsWith(`/box/${liveBox}`));
    expect((await daemon.client.getBox(liveBox)).box.name).toBe(liveBox);
  });

  it("on a phone the menu opens, leads somewhere, and closes again", async () => {
    await using view = await signedInPage(browser, daemon, { width: 360, height: 740 });
    const { page } = view;
    await page.getByRole("button", { name: "Open the menu" }).click();
    await page.getByRole("link", { name: "Cost" }).click();
    await becomesTrue("the page is there", async () => page.url().endsWith("/cost"));
    await page.getByRole("button", { name: "Open the menu" }).waitFor();
    expect(await page.getByRole("button", { name: "Open the menu" }).isVisible()).toBe(true);
  });

  it("the theme follows the system until somebody chooses, and stays chosen", async () => {
    await using view = await signedInPage(browser, daemon, { theme: "dark" });
    const { page } = view;
    const theme = () => page.locator("html").getAttribute("data-theme");
    expect(await theme()).toBe("dark");
    await page.getByRole("button", { name: "Switch to light" }).click();
    expect(await theme()).toBe("light");
    await page.reload();
    await page.locator(".app-main").waitFor();
    expect(await theme()).toBe("light");
  });

  it("a lost daemon is said, and what is shown is right again when it is back", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page } = view;
    const state = page.locator(".app-connection");
    await state.getByText("Live").waitFor();
    await daemon.stop();
    await state.getByText(/lost/).waitFor();
    await daemon.start();
    await state.getByText("Live").waitFor();
    await page.getByText(liveBox).first().waitFor();
    expect(await state.getByText(/lost/).count()).toBe(0);
  });
});
