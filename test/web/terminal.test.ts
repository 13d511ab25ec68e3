/** The terminal of a box in a real browser: what is typed arrives, what is shown is what is there. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestBrowser, becomesTrue, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";
import { openTerminal, screenText, shows, startBox, startProgram } from "../support/web-terminal.ts";

const box = "typed";

/** The test's browser draws WebGL on the processor, which the page avoids unless it looks like a card. */
function pretendGraphicsCard(): void {
  const unmaskedRenderer = 0x9246;
  const prototype = WebGL2RenderingContext.prototype as unknown as {
    getParameter: (this: unknown, name: number) => unknown;
  };
  const own = prototype.getParameter;
  prototype.getParameter = function (name) {
    return name === unmaskedRenderer ? "a graphics card" : own.call(this, name);
  };
}

describeUnless(noBrowser)("the terminal of a box", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  secondTryAfresh(() => daemon);
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
    await startBox(daemon, box);
    for (const session of ["work", "pair", "lost", "bar"]) await startProgram(daemon, box, session);
  });
  afterAll(() => endAll(daemon, browser));

  it("what is typed arrives, colours too, and after a reload the same screen is there", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page, origin } = view;
    await openTerminal(page, origin, box, "work");
    await shows(page, "ready>");
    await page.keyboard.type("printf '\\033[38;2;1;200;3mgreen\\033[0m-%s\\n' $((40+2))\n");
    await shows(page, "green-42");
    const colour = await page
      .locator(".xterm-rows span", { hasText: /^green$/ })
      .first()
      .evaluate((element) => getComputedStyle(element).color);
    expect(colour).toBe("rgb(1, 200, 3)");
    const before = await screenText(page);
    await openTerminal(page, origin, box, "work");
    await shows(page, "green-42");
    expect(await screenText(page)).toBe(before);
  });

  it("the program is told the size of the window, and every change of it", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page, origin } = view;
    await openTerminal(page, origin, box, "work");
    const sizeNow = async () => {
      await page.keyboard.type("clear; stty size | sed 's/^/size: /'\n");
      await shows(page, "size: ");
      let size = "";
      await becomesTrue("a size is shown", async () => {
        size = /^size: (\d+ \d+)$/m.exec(await screenText(page))?.[1] ?? "";
        return size !== "";
      });
      return size.split(" ").map(Number) as [number, number];
    };
    const [rows, cols] = await sizeNow();
    expect(cols).toBeGreaterThan(80);
    await page.setViewportSize({ width: 700, height: 640 });
    await becomesTrue("it is smaller", async () => {
      const [nextRows, nextCols] = await sizeNow();
      return nextRows < rows && nextCols < cols;
    });
  });

  it("two people see the same; a reader cannot type, and does not change the size", async () => {
    await using one = await signedInPage(browser, daemon);
    await using two = await signedInPage(browser, daemon, { width: 600, height: 700 });
    await openTerminal(one.page, one.origin, box, "pair");
    await openTerminal(two.page, two.origin, box, "pair");
    await two.page.keyboard.type("echo from-$((1+1))\n");
    await shows(one.page, "from-2");
    await two.page.getByRole("switch", { name: "Read-only" }).click();
    await two.page.locator('.terminal-host[data-phase="live"]').waitFor();
    await two.page.getByText("read-only", { exact: true }).waitFor();
    await two.page.locator(".terminal-host .xterm-screen").click();
    await two.page.keyboard.type("echo never-$((1+1))\n");
    // The control: the same keys of a person who may type.
    await one.page.locator(".terminal-host .xterm-screen").click();
    await one.page.keyboard.type("echo again-$((1+1)); stty size\n");
    await shows(one.page, "again-2");
    await shows(two.page, "again-2");
    expect(await screenText(one.page)).not.toContain("never-");
    await becomesTrue("it has the size of the larger window", async () => {
      const cols = /again-2\n\d+ (\d+)/.exec(await screenText(one.page))?.[1];
      return cols !== undefined && Number(cols) > 100;
    });
  });

  it("a lost connection is seen, tried again, and no key typed meanwhile is sent later", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page, origin } = view;
    await openTerminal(page, origin, box, "lost");
    await page.keyboard.type("echo before-$((1+1))\n");
    await shows(page, "before-2");
    await daemon.kill();
    await page.getByText("connection lost", { exact: true }).waitFor();
    await page.keyboard.type("echo lost\n");
    await page.getByText("10 keys were not sent").waitFor();
    await daemon.start();
    await page.locator('.terminal-host[data-phase="live"]').waitFor();
    await shows(page, "before-2");
    await page.keyboard.type("echo after-$((1+1))\n");
    await shows(page, "after-2");
    expect(await screenText(page)).not.toContain("lost");
    await page.getByRole("button", { name: "OK" }).click();
    await becomesTrue(
      "the note is gone",
      async () => (await page.getByText("keys were not sent").count()) === 0,
    );
  });

  it("on a phone there is a bar of keys, and nothing scrolls sideways", async () => {
    await using view = await signedInPage(browser, daemon, { width: 360, height: 740 });
    const { page, origin } = view;
    await openTerminal(page, origin, box, "bar");
    await page.getByRole("button", { name: "Keys" }).click();
    const bar = page.getByRole("toolbar", { name: "Keys" });
    await page.keyboard.type("cat -v\n");
    await bar.getByRole("button", { name: "Up" }).click();
    await bar.getByRole("button", { name: "~" }).click();
    await page.keyboard.type("\n");
    await becomesTrue("both arrived", async () => (await screenText(page)).split("^[[A~").length === 3);
    await bar.getByRole("button", { name: "Ctrl" }).click();
    await page.keyboard.type("c");
    await page.keyboard.type("echo still-$((1+1))\n");
    await shows(page, "still-2");
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBeLessThanOrEqual(0);
  });

  it("a new shell is started from the page, and an ended one keeps its last screen", async () => {
    await using view = await signedInPage(browser, daemon, { path: `/box/${box}/terminal` });
    const { page } = view;
    await page.getByRole("button", { name: "New shell" }).click();
    await page.locator(`section[aria-label="Terminal of ${box}, session shell-1"]`).waitFor();
    await page.locator('.terminal-host[data-phase="live"]').waitFor();
    await page.locator(".terminal-host .xterm-screen").click();
    await page.keyboard.type("echo last-$((1+1)) words; exit 3\n");
    await page.getByText("ended with 3").waitFor();
    await shows(page, "last-2 words");
    await page.getByRole("button", { name: "Start a shell in its place" }).click();
    await page.locator('.terminal-host[data-phase="live"]').waitFor();
    await becomesTrue("it is a new one", async () => !(await screenText(page)).includes("last-2"));
    expect(await page.locator('.terminal-host[data-phase="live"]').count()).toBe(1);
  });

  it("with a graphics card it draws there, and goes on with elements when the card is lost", async () => {
    await using view = await signedInPage(browser, daemon, { before: pretendGraphicsCard });
    const { page, origin } = view;
    await openTerminal(page, origin, box, "work");
    await page.locator('.terminal-host[data-renderer="webgl"]').waitFor();
    await page.keyboard.type("clear; echo drawn-$((1+1))\n");
    await page
      .locator(".xterm-screen canvas:not(.xterm-link-layer)")
      .evaluate((canvas: HTMLCanvasElement) =>
        canvas.getContext("webgl2")?.getExtension("WEBGL_lose_context")?.loseContext(),
      );
    await page.locator('.terminal-host[data-renderer="dom"]').waitFor();
    await shows(page, "drawn-2");
    expect(await page.locator('.terminal-host[data-renderer="webgl"]').count()).toBe(0);
  });

  it("everything still there is found, newest first", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page, origin } = view;
    await openTerminal(page, origin, box, "work");
    await page.keyboard.type("clear; seq 1 300; echo bottom-$((1+1))\n");
    await shows(page, "bottom-2");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("searchbox").fill("137");
    await page.keyboard.press("Enter");
    await shows(page, "\n137\n");
    await page.getByRole("searchbox").fill("nowhere");
    await page.keyboard.press("Enter");
    await page.getByText("Not found").waitFor();
    expect(await page.getByRole("searchbox").inputValue()).toBe("nowhere");
  });
});
