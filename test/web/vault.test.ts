/** The vault's page in a real browser: what a person does there happens, and no value stays behind in the page. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type TestBrowser,
  type TestPage,
  becomesTrue,
  launchBrowser,
  noBrowser,
  settled,
  signedInPage,
} from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { describeUnless } from "../support/skipping.ts";
import { whyNoBoxes } from "../support/test-runtime.ts";
import { boxOf } from "../support/vault-ground.ts";

const secret = "wiki-token";
const canary = `canary${randomBytes(16).toString("hex")}`;
const second = `second${randomBytes(16).toString("hex")}`;
const box = "vault-box";

/** A value as it is, and as it travels. */
const formsOf = (value: string) => [value, Buffer.from(value).toString("base64")];

async function heapText({ context, page }: TestPage): Promise<string> {
  const session = await context.newCDPSession(page);
  const chunks: string[] = [];
  session.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => chunks.push(chunk));
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  await session.detach();
  return chunks.join("");
}

/** Everything a script or a person could find in the page and what it keeps. */
async function remainsOf({ context, page }: TestPage): Promise<Record<string, string>> {
  const fields = await page
    .locator("input, textarea")
    .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));
  return {
    markup: await page.content(),
    fields: JSON.stringify(fields),
    storage: await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, history.state])),
    cookies: JSON.stringify(await context.cookies()),
    address: page.url(),
  };
}

async function expectNowhere(view: TestPage, ...values: string[]): Promise<void> {
  const remains = { ...(await remainsOf(view)), heap: await heapText(view) };
  for (const [store, text] of Object.entries(remains))
    for (const form of values.flatMap(formsOf))
      expect(text.includes(form), `a value is in: ${store}`).toBe(false);
}

const entry = (page: Page) => page.getByRole("article", { name: secret });
const dialog = (page: Page) => page.getByRole("dialog");

describeUnless(noBrowser)("the vault's page", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  let server: Server;
  let missing: string | undefined;
  const arrived: (string | undefined)[] = [];
  beforeAll(async () => {
    missing = await whyNoBoxes();
    if (missing !== undefined) return;
    server = createServer((request, response) => {
      arrived.push(request.headers.authorization);
      const isRight = [canary, second].some((value) => request.headers.authorization === `Bearer ${value}`);
      response.writeHead(isRight ? 200 : 401).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
    const { port } = server.address() as AddressInfo;
    await boxOf(
      daemon,
      box,
      `[network.exceptions.wiki]\naddress = "127.0.0.1:${port}"\nreason = "the server of these tests"\n` +
        `[secrets.wiki]\nfrom = "vault:${secret}"\nhow = "bearer"\nhosts = ["http://wiki.agentbox.internal:${port}"]\nenv = "WIKI_TOKEN"\n`,
    );
  });
  afterAll(async () => {
    await endAll(daemon, browser);
    server?.close();
  });
  /** The browser's own words for an answer that the test wants. */
  const expected = [/the server responded with a status of 4/];
  const onVaultPage = async () => {
    const view = await signedInPage(browser, daemon, { path: "/vault", expected });
    await settled(view.page);
    return view;
  };
  const testFrom = async (page: Page) => {
    await entry(page).getByRole("button", { name: "Test" }).click();
    await dialog(page).getByLabel("From inside the box").selectOption(box);
    await dialog(page).getByRole("button", { name: "Make a request" }).click();
  };

  it("keeps a secret, and the value is nowhere in the page afterwards", async (context) => {
    if (missing !== undefined) context.skip(missing);
    await using view = await onVaultPage();
    const { page } = view;
    await page.getByText("The vault is empty").waitFor();
    // The control: what the page holds is found.
    const control = `control${randomBytes(8).toString("hex")}`;
    await page.evaluate((text) => void Object.assign(globalThis, { planted: [text] }), control);
    expect((await heapText(view)).includes(control)).toBe(true);

    await page.getByRole("button", { name: "Add a secret" }).click();
    await dialog(page).getByLabel("Name", { exact: true }).fill(secret);
    await dialog(page).getByLabel("Note").fill("for the wiki");
    await dialog(page).getByLabel("Value", { exact: true }).pressSequentially(canary);
    const { fields } = await remainsOf(view);
    expect(fields).toContain(canary);
    await dialog(page).getByRole("button", { name: "Save secret" }).click();
    await entry(page).getByText("for the wiki").waitFor();
    await expectNowhere(view, canary);
    const { secret: kept } = await daemon.client.getSecret({ name: secret });
    expect(kept).toMatchObject({ kind: "text", source: { kind: "stored" }, note: "for the wiki" });
  });

  it("does not leave a value behind that was refused either", async () => {
    await using view = await onVaultPage();
    const { page } = view;
    const value = `refused${randomBytes(16).toString("hex")}`;
    await page.getByRole("button", { name: "Add a secret" }).click();
    await dialog(page).getByLabel("Name", { exact: true }).fill(secret);
    await dialog(page).getByLabel("Value", { exact: true }).pressSequentially(value);
    await dialog(page).getByRole("button", { name: "Save secret" }).click();
    await dialog(page).getByText("secret.exists").waitFor();
    expect(await dialog(page).getByLabel("Value", { exact: true }).inputValue()).toBe("");
    await expectNowhere(view, value);
  });

  it("shows what exactly is granted before it is, and then the box can use it, and the receipts say so", async () => {
    await using view = await onVaultPage();
    const { page } = view;
    await testFrom(page);
    await dialog(page)
      .getByText(/no person has agreed/)
      .waitFor();
    expect(arrived).toEqual([]);
    await page.keyboard.press("Escape");

    await entry(page).getByRole("button", { name: "Grant" }).click();
    const yes = dialog(page).getByRole("button", { name: "Grant exactly this" });
    expect(await yes.isDisabled()).toBe(true);
    await dialog(page).getByLabel("Box", { exact: true }).selectOption(box);
    await dialog(page)
      .getByText(/wiki\.agentbox\.internal/)
      .waitFor();
    // Looking is no yes.
    expect((await daemon.client.getSecret({ name: secret })).grants).toEqual([]);
    await yes.click();
    const grants = entry(page).getByRole("list", { name: `Grants of ${secret}` });
    await grants.getByText(`the box ${box}`).waitFor();
    expect((await daemon.client.getSecret({ name: secret })).grants).toMatchObject([
      { scope: { kind: "box", box } },
    ]);

    await testFrom(page);
    await dialog(page).getByText("used", { exact: true }).waitFor();
    expect(arrived).toEqual([`Bearer ${canary}`]);
    await page.keyboard.press("Escape");
    const receipts = page.getByRole("region", { name: "Receipts" }).getByRole("row");
    await receipts
      .filter({ hasText: box })
      .filter({ hasText: "used" })
      .filter({ hasText: "200" })
      .first()
      .waitFor();
    await expectNowhere(view, canary);
  });

  it("rotates it, takes the grant back, and forgets it", async () => {
    await using view = await onVaultPage();
    const { page } = view;
    await entry(page).getByRole("button", { name: "Rotate" }).click();
    await dialog(page).getByLabel("New value").pressSequentially(second);
    await dialog(page).getByRole("button", { name: "Rotate" }).click();
    await entry(page).getByText("version 2").waitFor();
    await expectNowhere(view, second);
    await testFrom(page);
    await dialog(page).getByText("used", { exact: true }).waitFor();
    expect(arrived.at(-1)).toBe(`Bearer ${second}`);
    await page.keyboard.press("Escape");

    await entry(page).getByRole("button", { name: "Revoke" }).click();
    await dialog(page).getByRole("button", { name: "Revoke" }).click();
    await entry(page).getByText("No box can use this secret yet.").waitFor();
    const before = arrived.length;
    await testFrom(page);
    await dialog(page)
      .getByText(/no person has agreed/)
      .waitFor();
    expect(arrived.length).toBe(before);
    await page.keyboard.press("Escape");
    const { events } = await daemon.client.listEvents({ type: "secret.revoked", limit: 10 });
    expect(events).toHaveLength(1);

    await entry(page).getByRole("button", { name: "Remove" }).click();
    await dialog(page).getByRole("button", { name: "Remove it" }).click();
    await page.getByText("The vault is empty").waitFor();
    expect(await daemon.client.listSecrets()).toEqual([]);
  });

  it("locks, stays locked for a wrong passphrase, and opens for the right one", async () => {
    const passphrase = `right${randomBytes(12).toString("hex")}`;
    const wrong = `wrong${randomBytes(12).toString("hex")}`;
    await daemon.client.rekeyVault({ to: "passphrase", passphrase });
    await using view = await onVaultPage();
    const { page } = view;
    const status = page.getByRole("region", { name: "Status" });
    await status.getByRole("button", { name: "Lock" }).click();
    await status.getByText("locked", { exact: true }).waitFor();
    await status.getByLabel("Passphrase").fill(wrong);
    await status.getByRole("button", { name: "Unlock" }).click();
    await status.getByRole("alert").waitFor();
    expect((await daemon.client.getVault()).isLocked).toBe(true);
    await status.getByLabel("Passphrase").fill(passphrase);
    await status.getByRole("button", { name: "Unlock" }).click();
    await status.getByText("open", { exact: true }).waitFor();
    await expectNowhere(view, passphrase, wrong);
  });

  it("offers the services whose sign-in is known, says what an agent then can do, and fits a phone", async () => {
    await using view = await signedInPage(browser, daemon, {
      path: "/vault",
      width: 360,
      height: 740,
      expected,
    });
    const { page } = view;
    await settled(page);
    const [preset] = await daemon.client.listConnectionPresets();
    const card = page.getByRole("article", { name: preset!.title });
    await card.getByText(preset!.can[0]!).waitFor();
    await card.getByRole("button", { name: "Connect" }).click();
    expect(await dialog(page).getByLabel("Name in the vault").inputValue()).toBe(preset!.name);
    await dialog(page).getByRole("button", { name: "Begin" }).click();
    // Without the id of a client there is nothing to sign in with, and the daemon says so.
    await dialog(page).getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    await becomesTrue("it fits", async () =>
      page.evaluate(() => document.documentElement.scrollWidth <= 360),
    );
  });
});
