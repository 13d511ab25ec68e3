/** The pages of one real box: its frame and actions, the overview, the timeline, resources and settings. */
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
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { withStore } from "../support/many-boxes.ts";
import { makeProject, runIn, working } from "../support/review.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

const name = "shop-worker";
const markup = "<img src=x onerror=alert(1)>\u202e";
const shownState = (page: Page) => page.locator(".box-facts output");
const timeline = (page: Page) => page.getByRole("region", { name: `Timeline of ${name}` });

describeUnless(noBrowser)("a box", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  secondTryAfresh(() => daemon);
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
    const project = await makeProject(daemon);
    await working(daemon, project, name, "echo hello > hello.txt", { budget: { box: { tokens: 1_000 } } });
  });
  afterAll(() => endAll(daemon, browser));
  const at = (tab = "") => `/box/${name}${tab}`;

  it("is what its frame says, and does what its buttons say", async () => {
    await using view = await signedInPage(browser, daemon, { path: at() });
    const { page } = view;
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    await shownState(page).getByText("running").waitFor();
    expect(await page.title()).toBe(`${name} · AgentBox`);
    await page.getByRole("button", { name: "Pause" }).click();
    await shownState(page).getByText("paused").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await shownState(page).getByText("running").waitFor();
    // Actions that end its processes ask first, and do nothing before the answer.
    await page.getByRole("button", { name: "Stop" }).click();
    await page
      .getByRole("dialog", { name: `Stop ${name}?` })
      .getByRole("button", { name: "Cancel" })
      .click();
    expect((await daemon.client.getBox(name)).box.state.phase).toBe("running");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    await shownState(page).getByText("stopped").waitFor();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await shownState(page).getByText("running").waitFor();
    await page
      .getByRole("navigation", { name: `Pages of ${name}` })
      .getByRole("link", { name: "Timeline" })
      .click();
    await timeline(page).waitFor();
  });

  it("has its budget on the overview, where it is raised", async () => {
    await using view = await signedInPage(browser, daemon, { path: at() });
    const { page } = view;
    const budget = page.getByRole("region", { name: "Budget" });
    await budget.getByText("0 of 1,000 tokens for each box, set by the flag").waitFor();
    await budget.getByRole("button", { name: "Raise" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("More tokens").fill("a lot");
    await dialog.getByText("Tokens are a whole number.").waitFor();
    await dialog.getByLabel("More tokens").fill("500");
    await dialog.getByRole("button", { name: "Raise" }).click();
    await budget.getByText("0 of 1,500 tokens for each box, set by the flag").waitFor();
    const { events } = await daemon.client.listEvents({ box: name, type: "budget.raised" });
    expect(events).toHaveLength(1);
  });

  it("shows what happens as it happens, by kind, and as text", async () => {
    await using view = await signedInPage(browser, daemon, { path: at("/timeline") });
    const { page } = view;
    await timeline(page).getByRole("listitem").first().waitFor();
    await runIn(daemon, name, `echo '${markup}'`);
    // Shown with what it hides, and never as an element.
    await timeline(page).getByText("U+202E").waitFor();
    await timeline(page).getByText("<img src=x onerror=alert(1)>").waitFor();
    expect(await timeline(page).locator("img").count()).toBe(0);
    await page.getByRole("button", { name: "tokens" }).click();
    await timeline(page).getByText("Budget raised").waitFor();
    await timeline(page).getByText("<img").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "commands" }).click();
    await timeline(page).getByText("<img").waitFor();
  });

  it("goes back to the first event of a long life without drawing all of it", async () => {
    const { box } = await daemon.client.getBox(name);
    await withStore(daemon, (store) =>
      store.commit({
        events: Array.from({ length: 1_500 }, (_, id) => ({
          atMs: Date.now(),
          type: "agent.event" as const,
          box: name,
          incarnation: box.incarnation,
          data: { kind: "tool_called", id: `${id}`, tool: "Bash", summary: `command ${id}` },
        })),
      }),
    );
    await using view = await signedInPage(browser, daemon, { path: at("/timeline") });
    const { page } = view;
    await timeline(page).getByText("command 1499", { exact: true }).waitFor();
    await becomesTrue("the first event is reached", async () => {
      await timeline(page).evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      return (await timeline(page).getByText("Box created").count()) > 0;
    });
    expect(await timeline(page).getByRole("listitem").count()).toBeLessThan(120);
    // New events move nothing, and wait above.
    await runIn(daemon, name, "true");
    await page.getByRole("button", { name: /new above/ }).click();
    await timeline(page).getByText("Command ended").first().waitFor();
  });

  it("draws what it uses, with the numbers beside it", async () => {
    await using view = await signedInPage(browser, daemon, { path: at("/resources") });
    const { page } = view;
    await page.getByRole("row", { name: /^Memory/ }).waitFor();
    await page
      .getByRole("img", { name: /^Processor/ })
      .locator("canvas")
      .waitFor();
    await page.getByRole("row", { name: /^Processes [1-9]/ }).waitFor();
    expect(await page.getByRole("row", { name: /^Processes [1-9]/ }).count()).toBe(1);
  });

  it("says what it was made with, keeps checkpoints, and forks from one", async () => {
    await using view = await signedInPage(browser, daemon, { path: at("/settings") });
    const { page } = view;
    await page.getByRole("region", { name: "Isolation" }).getByText(/^Tier/).waitFor();
    await page.getByRole("region", { name: "Box" }).getByText("Started from commit").waitFor();
    const checkpoints = page.getByRole("region", { name: "Checkpoints" });
    await checkpoints.getByLabel("Name (optional)").fill("first-words");
    await checkpoints.getByRole("button", { name: "Take checkpoint" }).click();
    const row = checkpoints.getByRole("row").filter({ hasText: "first-words" });
    await row.waitFor();
    await runIn(daemon, name, "echo other > hello.txt");
    await row.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await becomesTrue(
      "the file is back",
      async () => (await runIn(daemon, name, "cat hello.txt")).stdout === "hello\n",
    );
    await row.getByRole("button", { name: "Fork" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("shop-fork");
    await page.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
    await page.getByRole("heading", { name: "shop-fork", level: 1 }).waitFor();
    // And away with it: asked first, then gone.
    await settled(page);
    await page.getByRole("button", { name: "Remove" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove shop-fork?" });
    // The answer is on its way until the page knows from the events that boxes have changed: it asks for the list again,
    // and not for the box, which would be an error in the console.
    const isRemoved = async () => (await daemon.client.listBoxes()).every((one) => one.name !== "shop-fork");
    await page.route("**/v1/boxes/shop-fork*", async (route) => {
      if (route.request().method() !== "DELETE") return route.continue();
      const response = await route.fetch();
      await becomesTrue("the box is gone", isRemoved);
      await page.waitForResponse((answer) => new URL(answer.url()).pathname === "/v1/boxes");
      await route.fulfill({ response });
    });
    await dialog.getByRole("button", { name: "Remove" }).click();
    await becomesTrue("the page is the fleet's", async () => new URL(page.url()).pathname === "/");
    await expect(daemon.client.getBox("shop-fork")).rejects.toMatchObject({ code: "box.not_found" });
  });

  it("has no page where there is no box", async () => {
    await using view = await signedInPage(browser, daemon, {
      path: "/box/no-such-box",
      expected: [/404 \(Not Found\)/],
    });
    await view.page.getByRole("heading", { name: "There is no box no-such-box" }).waitFor();
    expect(await view.page.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0);
  });

  it("makes a token that is shown once and works, until it is removed", async () => {
    await using view = await signedInPage(browser, daemon, { path: "/settings" });
    const { page, origin } = view;
    const tokens = page.getByRole("region", { name: "Access tokens" });
    await tokens.getByLabel("Name").fill("for a script");
    await tokens.getByRole("button", { name: "Create token" }).click();
    await tokens.getByText("This is the only time it is shown.").waitFor();
    const value = (await tokens.locator(".settings-value").textContent()) ?? "";
    const ask = async (method: "GET" | "POST", path: string) =>
      (
        await fetch(origin + path, {
          method,
          headers: { authorization: `Bearer ${value}`, "content-type": "application/json" },
          ...(method === "POST" ? { body: "{}" } : {}),
        })
      ).status;
    expect(await ask("GET", "/v1/boxes")).toBe(200);
    // It was made to read.
    expect(await ask("POST", `/v1/boxes/${name}/pause`)).toBe(403);
    await page.reload();
    await tokens.getByRole("row", { name: /for a script/ }).waitFor();
    expect(await page.getByText(value).count()).toBe(0);
    await tokens.getByRole("button", { name: "Remove for a script" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await tokens.getByText("No tokens yet.").waitFor();
    expect(await ask("GET", "/v1/boxes")).toBe(401);
  });
});
