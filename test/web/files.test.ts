/**
 * The workspace and the services of a box on the page: browse, read, download, upload, logs; with any names and bytes.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchBrowser, noBrowser, settled, signedInPage, type TestBrowser } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { makeProject, worked } from "../support/review.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";
import { emptyBox, inBox, shellInBox } from "../security/attack.ts";

const box = "shop-files";

const clock = "i=0; while :; do i=$((i+1)); printf '\\033[32mtick %s\\033[0m\\n' $i; sleep 0.2; done";

/** One red pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

describeUnless(noBrowser)("files and services on the page", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  secondTryAfresh(() => daemon);
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
    await emptyBox(daemon, box, { services: { clock: { command: clock } } });
    const { code, stderr } = await shellInBox(
      daemon,
      box,
      `mkdir -p src deep/er && printf 'const answer = 42; // why\\nexport { answer };\\n' > src/app.ts
       printf 'if (admin) {\\342\\200\\256 }' > src/trojan.js && printf '<script>document.title="owned"</script><img src=x onerror=document.title=1>' > 'src/<img src=x onerror=alert(1)>.html'
       printf ${png} | base64 -d > red.png && cp red.png src/fake.ts && printf 'a\\0b' > data.bin && seq 1 20000 > long.txt
       ln -s /home/agent home`,
    );
    expect(code, stderr).toBe(0);
  });
  afterAll(() => endAll(daemon, browser));

  it("shows directories and text with line numbers, and hidden characters by their names", async () => {
    await using view = await signedInPage(browser, daemon, { path: `/box/${box}/files` });
    const { page } = view;
    await settled(page);
    await page.getByRole("link", { name: "src" }).click();
    await page.getByRole("link", { name: "app.ts" }).click();
    const text = page.getByRole("region", { name: "Text of src/app.ts" });
    await text.getByText("42").waitFor();
    await text.getByText("2", { exact: true }).waitFor();
    await page.getByRole("link", { name: "trojan.js" }).click();
    await page.getByText("U+202E").waitFor();
    await page.getByRole("link", { name: /onerror/ }).click();
    await page.getByText('document.title="owned"', { exact: false }).waitFor();
    expect(await page.title()).not.toContain("owned");
    await page.goBack();
    await page.getByText("U+202E").waitFor();
    await page
      .getByRole("navigation", { name: "Directories" })
      .getByRole("link", { name: "workspace" })
      .click();
    await page.getByRole("link", { name: "long.txt" }).click();
    await page
      .getByRole("region", { name: "Text of long.txt" })
      .getByText("17", { exact: true })
      .first()
      .waitFor();
    expect(await page.locator(".files-line").count()).toBeLessThan(200);
  });

  it("shows pictures as pictures, other bytes not at all, and follows no link out of the workspace", async () => {
    await using view = await signedInPage(browser, daemon, {
      path: `/box/${box}/files?file=red.png`,
      expected: [/status of 400/],
    });
    const { page } = view;
    const picture = page.getByRole("img", { name: "red.png" });
    await picture.waitFor();
    expect(await picture.getAttribute("src")).toMatch(/^blob:/);
    await page.getByRole("link", { name: "data.bin" }).click();
    await page.getByText("This file is not text").waitFor();
    await page.goto(`${view.origin}/box/${box}/files?dir=home`);
    await page.getByText("leads out of it").waitFor();
  });

  it("downloads and uploads, and asks before it replaces", async () => {
    await using view = await signedInPage(browser, daemon, {
      path: `/box/${box}/files?dir=src&file=src/app.ts`,
    });
    const { page } = view;
    await page.getByRole("region", { name: "Text of src/app.ts" }).waitFor();
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe("app.ts");
    expect(readFileSync(await download.path(), "utf8")).toContain("const answer = 42;");

    const chooser = page.getByLabel("Files to upload");
    await chooser.setInputFiles({
      name: "new.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("from outside"),
    });
    await page.getByRole("link", { name: "new.txt" }).waitFor();
    expect((await inBox(daemon, box, ["cat", "src/new.txt"])).stdout).toBe("from outside");
    await chooser.setInputFiles({ name: "new.txt", mimeType: "text/plain", buffer: Buffer.from("again") });
    const dialog = page.getByRole("dialog", { name: "Replace this file?" });
    await dialog.waitFor();
    expect((await inBox(daemon, box, ["cat", "src/new.txt"])).stdout).toBe("from outside");
    await dialog.getByRole("button", { name: "Replace" }).click();
    await page.getByText("Uploaded new.txt.").first().waitFor();
    await expect
      .poll(async () => (await inBox(daemon, box, ["cat", "src/new.txt"])).stdout, { timeout: 15_000 })
      .toBe("again");
  });

  it("shows services with what they print, live and without colours of a terminal", async () => {
    await using view = await signedInPage(browser, daemon, { path: `/box/${box}/services` });
    const { page } = view;
    await page.getByText("clock").first().waitFor();
    await page.getByRole("button", { name: "Output of clock" }).click();
    const log = page.getByLabel("Log of clock");
    await log.getByText(/tick \d+/).waitFor();
    const last = async () => Number((await log.textContent())?.match(/tick (\d+)\s*$/)?.[1] ?? 0);
    const before = await last();
    await expect.poll(last, { timeout: 15_000 }).toBeGreaterThan(before);
    expect(await log.textContent()).not.toContain("U+001B");
    await page.getByText("Nothing listens on a port").waitFor();
  });

  it("fits a phone without scrolling sideways", async () => {
    await using view = await signedInPage(browser, daemon, {
      width: 360,
      height: 740,
      path: `/box/${box}/files?dir=src&file=src/app.ts`,
    });
    const { page } = view;
    await page.getByRole("region", { name: "Text of src/app.ts" }).waitFor();
    const overflow = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await page.goto(`${view.origin}/box/${box}/services`);
    await settled(page);
    expect(await overflow()).toBeLessThanOrEqual(0);
  });

  it.each([
    [1280, 900],
    [390, 844],
  ])("shows the files of a stopped box from its last checkpoint, at %i px", async (width, height) => {
    await worked(daemon, await makeProject(daemon), `ended-${width}`, "echo 'kept words' > work.txt");
    const path = `/box/ended-${width}/files`;
    await using view = await signedInPage(browser, daemon, { width, height, path });
    const { page } = view;
    await page.getByText(/^From checkpoint \d+/).waitFor();
    expect(await page.getByRole("button", { name: /Upload/ }).count()).toBe(0);
    await page.getByRole("link", { name: "work.txt" }).click();
    await page.getByText("kept words").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });
});
