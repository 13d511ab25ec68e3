/** Questions of real boxes in the inbox: asked live, answered for exactly what is shown, and gone when they are. */
import type { Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { Approval } from "../../src/contract/network/egress.ts";
import { type TestBrowser, becomesTrue, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { endedRun, memoryBox, withStore } from "../support/many-boxes.ts";
import { boxOn, onNetwork, recordsOf, shell } from "../support/network-ground.ts";
import type { ProgramResult } from "../support/program.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

const box = "asking";
let browser: TestBrowser | undefined;

const cards = (page: Page, host: string) =>
  page
    .getByRole("list", { name: "Questions", exact: true })
    .getByRole("listitem")
    .filter({ hasText: new RegExp(`GET ${host}:80|${host}:443`) });

/** A question under a number that was used again, as a page sees it that has not heard of it. */
function showOldDigests(): void {
  const real = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const answer = await real(input, init);
    const isList = input === "/v1/approvals" && location.hash === "#stale";
    if (!isList) return answer;
    const { approvals } = (await answer.json()) as { approvals: { digest: string }[] };
    const older = approvals.map((one) => ({ ...one, digest: `sha256:${"0".repeat(64)}` }));
    return new Response(JSON.stringify({ approvals: older }));
  };
}

describeUnless(noBrowser)("the inbox", () => {
  onNetwork(
    "with questions",
    (ground) => {
      secondTryAfresh(() => ground.daemon);
      afterAll(() => browser?.[Symbol.asyncDispose]());
      const openInbox = (expected: RegExp[] = [], width = 1280) =>
        signedInPage(browser!, ground.daemon, { path: "/inbox", expected, width });
      const curl = (url: string): Promise<ProgramResult> =>
        shell(ground.daemon, box, `curl -sS -m 55 -w '\\n%{http_code}' ${url}`, 90_000);
      const question = (host: string): Promise<Approval> =>
        waitFor(`the box asks about ${host}`, async () =>
          (await ground.daemon.client.listApprovals()).find((one) => one.host === host),
        );
      /** Without names that are asked for: the browser is on this network, too, and asks for some of its own. */
      const arrived = async () => (await ground.network.arrivals()).filter(({ kind }) => kind !== "dns");
      const answers = async (host: string) => {
        const { events } = await ground.daemon.client.listEvents({ type: "approval.answered", limit: 1_000 });
        return events.filter(({ data }) => data["host"] === host).map(({ data }) => data);
      };

      it("shows a question as it is asked, lets it through once, and the audit says so", async () => {
        const { daemon } = ground;
        const earlier = (await answers("ask.test")).length;
        await using view = await openInbox();
        const { page } = view;
        await page.getByRole("heading", { name: "Nothing needs you" }).waitFor();
        const running = curl("http://ask.test/first");
        const card = cards(page, "ask.test");
        await card.getByText(/^Let the box asking (reach|GET) ask\.test/).waitFor();
        await card.getByText(/^Denied automatically in \d/).waitFor();
        expect(await arrived()).toEqual([]);
        await card.getByRole("button", { name: "Allow once" }).click();
        expect((await running).stdout).toContain("the internet");
        await card.waitFor({ state: "detached" });
        expect((await answers("ask.test")).slice(earlier)).toEqual([
          expect.objectContaining({ outcome: "allow", scope: "once" }),
        ]);
        await waitFor("the gate has noted it", async () =>
          (await recordsOf(daemon, box, "ask.test")).some(({ verdict }) => verdict === "allow"),
        );

        // Once was once: the next is another question, and a key says no to it.
        await ground.network.forget();
        const again = curl("http://ask.test/second");
        await card.waitFor();
        await becomesTrue("the key is taken once the question could be read", async () => {
          await page.keyboard.press("d");
          return (await card.count()) === 0;
        });
        expect((await again).stdout).toMatch(/not_approved[^]*403/);
        expect(await arrived()).toEqual([]);
        expect((await answers("ask.test")).at(-1)).toMatchObject({ outcome: "deny" });
      });

      it("is answered on a phone, with all that a yes would mean in sight", async () => {
        await using view = await openInbox([], 390);
        const { page } = view;
        const running = curl("http://phone.test/");
        const card = cards(page, "phone.test");
        await card.getByText(/^Denied automatically in \d/).waitFor();
        for (const name of ["Allow once", "For this box"])
          expect(await card.getByRole("button", { name }).isVisible(), name).toBe(true);
        await card.getByRole("button", { name: "Deny" }).click();
        await card.waitFor({ state: "detached" });
        expect((await running).stdout).toMatch(/not_approved[^]*403/);
        expect((await answers("phone.test")).at(-1)).toMatchObject({ outcome: "deny" });
      });

      it("allows for the box and for as long as it says, by key", async () => {
        const { daemon } = ground;
        await using view = await openInbox();
        const { page } = view;
        const running = curl("https://other.test/x");
        const card = cards(page, "other.test");
        await card.waitFor();
        await page.getByLabel("Remember for").selectOption("1 hour");
        // The select has the keys until the focus is elsewhere.
        await page.getByRole("heading", { name: "Inbox" }).click();
        await becomesTrue("the key is taken once the question could be read", async () => {
          await page.keyboard.press("b");
          return (await card.count()) === 0;
        });
        expect((await running).stdout).toContain("the internet");
        expect((await curl("https://other.test/again")).stdout).toContain("the internet");
        const { policy } = await daemon.client.getPolicy(box);
        const rule = policy.rules.find(({ id }) => id === "approval:other.test:443");
        expect(rule?.expiresAtMs).toBeGreaterThan(Date.now());
        expect(rule?.expiresAtMs).toBeLessThanOrEqual(Date.now() + 3_600_000);
      });

      it("takes away what was answered elsewhere, and says what became of it", async () => {
        await using view = await openInbox();
        const { page } = view;
        const running = curl("http://six.test/x");
        const card = cards(page, "six.test");
        await card.waitFor();
        await ground.daemon.client.answerApproval((await question("six.test")).id, { answer: "deny" });
        await card.waitFor({ state: "detached" });
        await page.getByText("six.test: Denied.").waitFor();
        expect((await running).stdout).not.toContain("the internet");
      });

      it("refuses a yes to what has changed since it was shown, and takes one to what is", async () => {
        await using view = await signedInPage(browser!, ground.daemon, {
          path: "/inbox#stale",
          before: showOldDigests,
          expected: [/409 \(Conflict\)/],
        });
        const { page } = view;
        const running = curl("http://api.test/x");
        const card = cards(page, "api.test");
        await card.getByRole("button", { name: "Allow once" }).click();
        await page.getByText("The question has changed, so nothing was allowed. Read it again.").waitFor();
        expect(await answers("api.test")).toEqual([]);
        expect(await arrived()).toEqual([]);
        await page.goto(`${view.origin}/inbox`);
        await page.reload();
        await card.getByRole("button", { name: "Allow once" }).click();
        expect((await running).stdout).toContain("the internet");
        expect(await answers("api.test")).toEqual([expect.objectContaining({ outcome: "allow" })]);
      });

      it.each([
        [1280, 900, "a.wild.test"],
        [390, 844, "wild.test"],
      ])("has what was missed, and allows it from now on, at %i px", async (width, height, host) => {
        await shell(ground.daemon, box, `curl -sS -m 1 http://${host}/late`);
        await using view = await signedInPage(browser!, ground.daemon, { width, height, path: "/inbox" });
        const { page } = view;
        const item = page
          .getByRole("list", { name: "Missed questions" })
          .getByRole("listitem")
          .filter({ hasText: `GET ${host}:80` });
        await item.getByText(`Let the box asking GET ${host}:80/late.`).waitFor();
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(wide).toBeLessThanOrEqual(width);
        await item.getByRole("button", { name: "Allow from now on" }).click();
        await item.waitFor({ state: "detached" });
        expect((await curl(`http://${host}/late`)).stdout).toContain("the internet");
        expect((await answers(host)).at(-1)).toMatchObject({ outcome: "allow", late: true });
      });

      it("has the boxes that cannot go on, with the way to help them", async () => {
        const { daemon } = ground;
        const { box: poor } = await memoryBox(daemon, "poor");
        await withStore(daemon, (store) =>
          store.commit({ update: { ...poor, run: { ...endedRun, verdict: "out_of_budget" } }, events: [] }),
        );
        await using view = await openInbox();
        const { page } = view;
        const item = page.getByRole("list", { name: "Boxes that need you" }).getByRole("listitem");
        await item.getByText("It ended out of budget.").waitFor();
        await item.getByRole("link", { name: "Raise the budget" }).click();
        await page.getByRole("heading", { name: "poor", level: 1 }).waitFor();
        expect(new URL(page.url()).pathname).toMatch(/^\/box\/poor/);
        await daemon.client.removeBox("poor");
      });
    },
    {
      async prepare({ daemon, network }) {
        browser = await launchBrowser({ wrap: network.daemonOptions.wrap });
        await boxOn(daemon, box, { default: "ask" });
      },
    },
  );
});
