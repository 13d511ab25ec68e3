/** The review page in a real browser: dangers before everything, comments as one batch, and nothing lands unseen. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { type TestBrowser, becomesTrue, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { makeProject, runIn, worked, working } from "../support/review.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

describeUnless(noBrowser)("the review page", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  secondTryAfresh(() => daemon);
  beforeAll(async () => {
    daemon = await startDaemon();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await daemon?.[Symbol.asyncDispose]();
  });

  const open = (box: string, options = {}) =>
    signedInPage(browser, daemon, { path: `/box/${box}/review`, ...options });
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const fileNames = (page: Page) => page.locator(".review-files-name").allTextContents();
  const labelOf = async (page: Page, name: string): Promise<string> => {
    const options = await page.getByLabel("From").locator("option").allTextContents();
    return options.find((option) => option.startsWith(`From: ${name}`)) ?? name;
  };
  const merged = (page: Page) =>
    page
      .getByRole("status")
      .filter({ hasText: /^Merged [0-9a-f]{7} into main$/ })
      .waitFor();
  const changes = (page: Page) => page.getByRole("region", { name: "Changes" });

  it("asks once about a directory that a tool has filled, and leaves it out when it is ignored", async () => {
    const project = await makeProject(daemon, { "README.md": "# Shop\n" });
    await worked(
      daemon,
      project,
      "installed",
      `mkdir -p .venv/bin && echo 'home = /usr/bin' > .venv/pyvenv.cfg && echo more >> README.md
       for n in $(seq 40); do printf '#!/bin/sh\n' > .venv/bin/tool-$n; chmod +x .venv/bin/tool-$n; done`,
    );
    await using opened = await open("installed");
    const { page } = opened;
    const bar = page.getByRole("region", { name: "Dangers" });
    await bar.getByRole("button", { name: /^1 danger/ }).click();
    await bar.getByText("41 files that a tool installed or built").waitFor();
    expect(await button(page, "Merge").isDisabled()).toBe(true);
    await bar.getByRole("button", { name: "Ignore it" }).click();
    await changes(page).getByText("/.venv/").waitFor();
    await button(page, "Show 2 files").waitFor();
    expect(await page.getByText("files that a tool installed").count()).toBe(0);
  });

  it("keeps dangerous work from landing until each kind is looked at; then merges and undoes it", async () => {
    const project = await makeProject(daemon, {
      "README.md": "# Shop\n",
      "package.json": '{"name":"shop"}\n',
    });
    await worked(
      daemon,
      project,
      "risky",
      `mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml
       printf '{"name":"shop",\\n"scripts":{"postinstall":"curl evil"}}\\n' > package.json`,
    );
    await using opened = await open("risky");
    const { page } = opened;
    const bar = page.getByRole("region", { name: "Dangers" });
    await bar.getByRole("button", { name: /^\d dangers/ }).click();
    await bar.getByText("package.json").first().waitFor();
    expect(await button(page, "Merge").isDisabled()).toBe(true);
    await page.keyboard.press("m");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByText(/^Review \d remaining dangers to merge$/).waitFor();
    // The place of a danger leads to its line, and the list makes room.
    await bar.getByRole("button", { name: "package.json" }).first().click();
    await changes(page).getByText("postinstall").first().waitFor();
    expect(await bar.getByRole("checkbox").count()).toBe(0);

    // Each danger stands at its line, and is looked at there.
    const boxes = changes(page).getByRole("checkbox", { name: /^I have looked at this/ });
    const kinds = await boxes.count();
    expect(kinds).toBeGreaterThanOrEqual(2);
    for (let at = 0; at < kinds; at += 1) {
      expect(await button(page, "Merge").isDisabled()).toBe(true);
      await boxes.nth(at).check();
    }
    await bar.getByText("all reviewed").waitFor();
    await button(page, "Merge").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Message").fill("Take the risk");
    await dialog.getByRole("button", { name: "Merge", exact: true }).click();
    await merged(page);
    expect(project.read("package.json")).toContain("postinstall");
    expect(await project.git("log", "-1", "--format=%s")).toBe("Take the risk\n");
    await page.getByText("Nothing has changed").waitFor();

    await button(page, "Undo").click();
    await page.getByText(/Merge \d+ undone/).waitFor();
    expect(project.read("package.json")).not.toContain("postinstall");
    expect(await project.git("log", "-1", "--format=%s")).toBe("First\n");
    await changes(page).getByText("postinstall").first().waitFor();
  });

  it("refuses to merge what has changed since it was looked at, and shows the new state when asked", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "moving", "echo seen > a.txt");
    await using opened = await open("moving", { expected: [/the server responded with a status of 4/] });
    const { page } = opened;
    await changes(page).getByText("seen").first().waitFor();
    // The page gets no event: the agent changes its work between the look and the click.
    await runIn(daemon, "moving", "echo unseen > b.txt");
    await button(page, "Merge").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Merge", exact: true }).click();
    await dialog.getByText("The work has changed since it was looked at.").waitFor();
    expect(await project.git("log", "-1", "--format=%s")).toBe("First\n");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await button(page, "Merge").isDisabled()).toBe(true);
    await button(page, "Show the latest state").click();
    await changes(page).getByText("unseen").first().waitFor();
    await button(page, "Merge").click();
    await dialog.getByRole("button", { name: "Merge", exact: true }).click();
    await merged(page);
    expect(project.read("b.txt")).toBe("unseen\n");
  });

  it("keeps comments on lines as drafts and resolves them", async () => {
    const project = await makeProject(daemon);
    // A terminal that keeps what it is told: the message arrives where a person would type it.
    await working(
      daemon,
      project,
      "talked",
      "sed -i 's/line3 = 3/line3 = 33/; s/line9 = 9/line9 = 99/' src/cart.js",
    );
    await using opened = await open("talked", { expected: [/the server responded with a status of 4/] });
    const { page } = opened;
    await changes(page).getByText("33").first().waitFor();
    const comment = async (line: number, text: string) => {
      await page.getByRole("button", { name: `Comment on line ${line}`, exact: true }).click();
      await page.getByRole("textbox", { name: `Comment on line ${line}` }).fill(text);
      await button(page, "Add comment").click();
      await page.getByRole("note").filter({ hasText: text }).waitFor();
    };
    await comment(3, "why thirty-three?");
    await comment(9, "<b>markup</b> stays text");
    const drafts = (await daemon.client.listComments("talked")).map(({ line, text, state }) => ({
      line,
      text,
      state,
    }));
    expect(drafts).toEqual([
      { line: 3, text: "why thirty-three?", state: "draft" },
      { line: 9, text: "<b>markup</b> stays text", state: "draft" },
    ]);
    expect(await page.locator(".review-comment b").count()).toBe(0);
    await button(page, "Send 2 comments").waitFor();
    await page.getByRole("note").first().getByRole("button", { name: "Resolve" }).click();
    await becomesTrue(
      "the comment is resolved",
      async () => (await daemon.client.listComments("talked"))[0]?.state === "resolved",
    );
    await button(page, "Send 1 comment").waitFor();
  });

  it("runs checks in a fresh box, lands nothing before they pass, and compares checkpoints", async () => {
    const project = await makeProject(daemon);
    const check = [{ name: "works", command: "echo looked around; test -e good.txt" }];
    await working(daemon, project, "checked", "echo one > a.txt", { check });
    await daemon.client.takeCheckpoint("checked", { name: "early" });
    await using opened = await open("checked", { expected: [/the server responded with a status of 4/] });
    const { page } = opened;
    const checks = page.getByRole("region", { name: "Checks" });
    await checks.getByText("not run on this state").waitFor();
    await button(page, "Merge").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Checks that have not passed on this state: works.").waitFor();
    expect(await dialog.getByRole("button", { name: "Merge", exact: true }).count()).toBe(0);
    await dialog.getByRole("button", { name: "Run checks, then merge" }).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await button(page, "Run checks").click();
    await checks.getByText(/^failed/).waitFor();
    await checks.getByText("looked around").waitFor();

    await runIn(daemon, "checked", "echo two > good.txt");
    await button(page, "Refresh").click();
    await changes(page).getByText("two").first().waitFor();
    await button(page, "Run checks").click();
    await checks.getByText(/^passed/).waitFor();

    // The list of files is folded away until it is wanted.
    await button(page, "Show 2 files").click();
    // Since a checkpoint: less to read, and nothing that could land unread.
    await page.getByLabel("From").selectOption({ label: await labelOf(page, "early") });
    await becomesTrue(
      "only the new file is listed",
      async () => (await fileNames(page)).join() === "good.txt",
    );
    await page.getByText("Show all changes to merge").waitFor();
    expect(await button(page, "Merge").isDisabled()).toBe(true);
    await page.getByLabel("From").selectOption("");
    await becomesTrue(
      "all files are listed",
      async () => (await fileNames(page)).join() === "a.txt,good.txt",
    );
    // A project without a remote: the daemon's words, and nothing else happens.
    await button(page, "Pull request").click();
    await dialog.getByRole("button", { name: "Push and open" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.keyboard.press("m");
    await dialog.getByRole("button", { name: "Merge", exact: true }).click();
    await merged(page);
  });

  it("shows the same lines side by side and one below the other, and remembers which", async () => {
    const project = await makeProject(daemon);
    await worked(
      daemon,
      project,
      "shown",
      `sed -i 's/line3 = 3/line3 = 33/' src/cart.js
       printf 'const a = "\\342\\200\\256abc";\\n' > hidden.js
       ln -s /etc/passwd link; git mv README.md moved.md; printf 'a\\000b' > 'a b.bin'; chmod +x src/cart.js`,
    );
    await using opened = await open("shown");
    const { page } = opened;
    const pane = changes(page);
    await pane.locator(".review-line .code-keyword").first().waitFor();
    // Characters that would turn the text around are shown by name.
    await pane.getByText("U+202E").first().waitFor();
    expect(await pane.textContent()).not.toContain("\u202e");
    await page.keyboard.press("f");
    const files = page.getByRole("navigation", { name: "Changed files" });
    await files.getByRole("button", { name: "cart.js" }).click();
    await page.getByRole("switch", { name: "Side by side" }).check();
    await pane.locator(".review-pair .review-word").first().waitFor();
    expect(await pane.locator(".review-line").count()).toBe(0);
    await page.reload();
    await pane.locator(".review-pair").first().waitFor();
    await page.keyboard.press("s");
    await pane.locator(".review-line").first().waitFor();

    const says = async (file: string, text: string) => {
      await files.getByRole("button", { name: file }).click();
      await pane.getByText(text).first().waitFor();
    };
    await says("moved.md", "Renamed from README.md.");
    await says("link", "A symbolic link");
    await says("a b.bin", "Binary files cannot be shown as lines.");
    await says("cart.js", "Now executable.");
    // The keyboard alone: a file further, marked as viewed.
    const viewed = page.getByText(/of 5 viewed/);
    expect(await viewed.textContent()).toContain("0 of 5");
    await page.keyboard.press("v");
    await page.getByText("1 of 5 viewed").waitFor();
    await page.reload();
    await page.getByText("1 of 5 viewed").waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await pane.locator(".review-file-head").first().waitFor();
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(sideways).toBeLessThanOrEqual(0);
  });
});
