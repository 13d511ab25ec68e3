/** A test's actions on a terminal in the page: open it, type in it, and read it. */
import type { Page } from "playwright-core";
import { waitFor } from "../../src/base/wait-for.ts";
import { becomesTrue } from "./browser.ts";
import type { TestDaemon } from "./daemon.ts";

/** A prompt that is seen once the shell reads, and no start-up files. */
const quietShell = ["sh", "-c", "PS1='ready> ' exec sh -i"];

export async function startBox(daemon: TestDaemon, name: string): Promise<void> {
  await daemon.client.createBox({ name, flags: { workspace: { mode: "empty" } } });
}

export async function startProgram(
  daemon: TestDaemon,
  box: string,
  session: string,
  argv: readonly string[] = quietShell,
): Promise<void> {
  const spec = { argv: [...argv], env: {}, terminal: true, cols: 80, rows: 24 };
  await daemon.client.startSession(box, { session, spec });
}

/** The rows of the terminal as they are drawn. */
export async function screenText(page: Page): Promise<string> {
  const rows = await page.locator(".xterm-rows > div").allTextContents();
  return rows.map((row) => row.replaceAll("\u00a0", " ").trimEnd()).join("\n");
}

export const shows = (page: Page, text: string): Promise<boolean> =>
  becomesTrue(`the terminal shows ${JSON.stringify(text)}`, async () =>
    (await screenText(page)).includes(text),
  );

/** Goes to a session of a box and waits until keys reach it. */
export async function openTerminal(page: Page, origin: string, box: string, session: string): Promise<void> {
  await page.goto(`${origin}/box/${box}/terminal`);
  await page.getByRole("group", { name: "Sessions" }).getByRole("button", { name: session }).click();
  await page.locator(`section[aria-label="Terminal of ${box}, session ${session}"]`).waitFor();
  await page.locator('.terminal-host[data-phase="live"]').waitFor();
  await page.locator(".terminal-host .xterm-screen").click();
}

/** Where a drawn text is; its elements take no clicks themselves, and each drawing replaces them. */
export async function positionOf(page: Page, text: string): Promise<{ x: number; y: number }> {
  const drawnText = page.locator(".xterm-rows span", { hasText: text }).first();
  const drawn = await waitFor(`${text} is drawn`, async () => (await drawnText.boundingBox()) ?? undefined);
  return { x: drawn.x + 8, y: drawn.y + drawn.height / 2 };
}
