/** A person's actions on a list of boxes, each timed in the page itself: from the key to the picture after it. */
import type { Page } from "playwright-core";
import { type TestBrowser, type TestPage, signedInPage } from "../support/browser.ts";
import type { TestDaemon } from "../support/daemon.ts";

export async function openFleet(
  browser: TestBrowser,
  daemon: TestDaemon,
  view: "cards" | "table",
  count: number,
): Promise<TestPage> {
  const opened = await signedInPage(browser, daemon);
  const { page } = opened;
  await page.getByRole("button", { name: `all ${count}` }).waitFor();
  await page.getByRole("button", { name: view === "table" ? "Table" : "Cards" }).click();
  await page.locator(`.fleet-list-${view} [data-box]`).first().waitFor();
  // Keys belong to the page, not to what was pressed last.
  await page.locator(".app-main").focus();
  return opened;
}

export type Interaction = "move" | "search" | "group" | "select";

/** Milliseconds. Each begins and ends with the list as it was, but for the keyboard's position. */
export const interact = (page: Page, what: Interaction): Promise<number> =>
  page.evaluate(async (kind) => {
    const painted = () =>
      new Promise<void>((resolve) => {
        // After the next picture: the first frame is made from what has changed, the second begins when it is shown.
        requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
      });
    const press = (key: string) =>
      document
        .querySelector(".app-main")!
        .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const write = (text: string) => {
      const field = document.querySelector<HTMLInputElement>('input[type="search"]')!;
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")!.set!.call(field, text);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const group = () => document.querySelector<HTMLInputElement>('input[role="switch"]')!.click();
    const pairs: Record<typeof kind, readonly [() => void, () => void]> = {
      move: [() => press("j"), () => press("j")],
      search: [() => write("team-app-00"), () => write("")],
      group: [group, group],
      select: [() => press("a"), () => press("Escape")],
    };
    await painted();
    const [there, back] = pairs[kind];
    const beganMs = performance.now();
    there();
    await painted();
    const tookMs = performance.now() - beganMs;
    back();
    await painted();
    return tookMs;
  }, what);
