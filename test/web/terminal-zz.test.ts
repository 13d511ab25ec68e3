import { it } from "vitest";
import { launchBrowser, signedInPage } from "../support/browser.ts";
import { startDaemon } from "../support/daemon.ts";
import { openTerminal, startBox, startProgram } from "../support/web-terminal.ts";
it("debug", async () => {
  await using daemon = await startDaemon();
  await using browser = await launchBrowser();
  await startBox(daemon, "typed"); await startProgram(daemon, "typed", "work");
  await using view = await signedInPage(browser, daemon);
  const { page, origin } = view;
  await openTerminal(page, origin, "typed", "work");
  await page.keyboard.type("echo hi-$((1+1))\n");
  await page.waitForTimeout(1500);
  await page.screenshot({ path: "/tmp/term/shot.png" });
  console.log(await page.locator(".terminal-host").evaluate((e) => e.outerHTML.slice(0, 3000)));
  console.log(view.complaints);
});
