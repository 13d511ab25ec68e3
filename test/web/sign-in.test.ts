/** A person of a team signs in at a real provider, in a real browser. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestBrowser, becomesTrue, launchBrowser, noBrowser } from "../support/browser.ts";
import { describeUnless } from "../support/skipping.ts";
import { type TestTeam, startTeam } from "../support/team.ts";

describeUnless(noBrowser)("signing in with the team's provider", () => {
  let team: TestTeam;
  let chromium: TestBrowser;
  beforeAll(async () => {
    team = await startTeam();
    team.provider.members.set("ana", { name: "Ana <b>Admin</b>", groups: ["admins"] });
    chromium = await launchBrowser();
  }, 120_000);
  afterAll(async () => {
    await chromium[Symbol.asyncDispose]();
    await team[Symbol.asyncDispose]();
  }, 120_000);

  const newPage = async (): Promise<Page> => {
    const context = await chromium.browser.newContext({ viewport: { width: 360, height: 740 } });
    context.setDefaultTimeout(30_000);
    return context.newPage();
  };

  it("leads through the provider to the page that was asked for, as that person", async () => {
    const page = await newPage();
    await page.goto(`${team.origin}/inbox`);
    const button = page.getByRole("button", { name: "Sign in with the team" });
    await button.waitFor();
    expect(await page.getByText("agentbox open").isVisible()).toBe(true);
    const isScrolling = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
    expect(isScrolling, "sideways, on a phone").toBe(false);

    await button.click();
    await page.locator("input[name=login]").fill("ana");
    await page.locator("input[name=password]").fill("any");
    await page.locator("button[type=submit]").click();
    // The provider asks whether AgentBox may know who it is.
    await page.locator("form button[type=submit]").click();

    await page.locator(".app-main").waitFor();
    expect(new URL(page.url()).pathname).toBe("/inbox");
    expect(page.url()).not.toContain("code=");
    await page.reload();
    await page.locator(".app-main").waitFor();
    await becomesTrue("the session is a person's", async () =>
      (await team.daemon.client.listSignIns()).some(
        ({ kind, name }) => kind === "person" && name.includes("Ana"),
      ),
    );
    await page.context().close();
  }, 120_000);

  it("finishes nothing that another browser began", async () => {
    const page = await newPage();
    const foreign = await team.visitor().answerOf("ana");
    const { secret: _secret, ...query } = foreign;
    await page.goto(`${team.origin}/auth/callback?${new URLSearchParams(query).toString()}`);
    await page.getByText("This sign-in was not started in this tab.").waitFor();
    expect(page.url()).toBe(`${team.origin}/auth/callback`);
    expect(await page.context().cookies()).toEqual([]);
    await page.getByRole("link", { name: "Back to the sign-in page" }).click();
    await page.getByRole("button", { name: "Sign in with the team" }).waitFor();
    await page.context().close();
  }, 60_000);

  it("offers no button where no provider is set up", async () => {
    team.unconfigure();
    const page = await newPage();
    await page.goto(team.origin);
    await page.getByText("agentbox open").waitFor();
    await becomesTrue("the page knows", async () => (await page.locator(".parts-skeleton").count()) === 0);
    expect(await page.getByRole("button", { name: /Sign in with/ }).count()).toBe(0);
    await page.context().close();
    team.configure("");
  }, 60_000);
});
