/** Removing boxes on the page: what would be lost is said first, Undo brings it back, and a list shows what is kept. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestBrowser, becomesTrue, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { makeProject, worked } from "../support/review.ts";
import { describeUnless } from "../support/skipping.ts";

describeUnless(noBrowser)("removing boxes", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  beforeAll(async () => {
    daemon = await startDaemon();
    const project = await makeProject(daemon);
    for (const name of ["one", "two", "three"]) await worked(daemon, project, name, `echo ${name} > a.txt`);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await daemon?.[Symbol.asyncDispose]();
  });
  const names = async () => (await daemon.client.listBoxes()).map(({ name }) => name).toSorted();
  const are = (...wanted: string[]) =>
    becomesTrue(
      `the boxes are ${wanted.join()}`,
      async () => (await names()).join() === wanted.toSorted().join(),
    );

  it.each([
    { width: 1280, height: 800, box: "one" },
    { width: 390, height: 780, box: "two" },
  ])("says what one box would lose, and undoes it, at $width px", async ({ width, height, box }) => {
    await using view = await signedInPage(browser, daemon, { width, height, path: `/box/${box}/settings` });
    const { page } = view;
    const panel = page.getByRole("region", { name: "Danger" });
    await panel.getByRole("button", { name: "Remove" }).click();
    const dialog = page.getByRole("dialog", { name: `Remove ${box}?` });
    await dialog.getByText("1 file, +1 -0 not merged").waitFor();
    await dialog.getByText("Their work can be restored for 7 days.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await names()).toContain(box);
    await panel.getByRole("button", { name: "Remove" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    const toast = page.getByRole("status").filter({ hasText: `Removed ${box}.` });
    await toast.getByRole("button", { name: "Undo" }).waitFor();
    expect(await names()).not.toContain(box);
    await toast.getByRole("button", { name: "Undo" }).click();
    await page.getByText(`Restored ${box}.`).waitFor();
    expect(await daemon.client.readUnmerged(box)).toMatchObject({ files: 1, added: 1 });
  });

  it("says it for several, and lists what is kept, to restore it or to delete it for good", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page } = view;
    await page.locator('[data-box="three"]').getByText("1 unmerged").waitFor();
    for (const name of ["one", "two", "three"]) await page.getByLabel(`Select ${name}`).check();
    await page
      .getByRole("region", { name: "Selected boxes" })
      .getByRole("button", { name: "Remove" })
      .click();
    const dialog = page.getByRole("dialog", { name: "Remove 3 boxes?" });
    await becomesTrue(
      "each is named with what it would lose",
      async () => (await dialog.getByText("1 file, +1 -0 not merged").count()) === 3,
    );
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("Removed 3 of 3 boxes.").waitFor();
    await are();
    await page.goto(new URL("/settings", page.url()).href);
    const panel = page.getByRole("region", { name: "Removed boxes" });
    await panel.getByRole("button", { name: "Restore three" }).click();
    await page.getByText("Restored three.").waitFor();
    await are("three");
    await panel.getByRole("button", { name: "Delete one for good" }).click();
    await page
      .getByRole("dialog", { name: "Delete the work of one for good?" })
      .getByRole("button", { name: "Delete" })
      .click();
    await becomesTrue(
      "one is forgotten",
      async () => (await daemon.client.listRemoved()).map(({ name }) => name).join() === "two",
    );
    await panel.getByRole("button", { name: "Restore one" }).waitFor({ state: "detached" });
    await panel.getByRole("button", { name: "Restore two" }).waitFor();
  });
});
