/** Boxes that need a person for every reason there is: the badge, the title, the fleet, the inbox and the command line count the same. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { Box } from "../../src/contract/box.ts";
import { needKinds } from "../../src/contract/needs.ts";
import { type TestBrowser, becomesTrue, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { endedRun, memoryBox, withStore } from "../support/many-boxes.ts";
import { boxOn, shell } from "../support/network-ground.ts";
import { describeUnless } from "../support/skipping.ts";

const running = { mode: "interactive", turns: 1, starts: 1, stateSinceMs: 1 } as const;

const update = (daemon: TestDaemon, name: string, change: Partial<Box>) =>
  withStore(daemon, async (store) => {
    const box = (await store.findBox(name))!;
    await store.commit({ update: { ...box, ...change }, events: [] });
  });

/** A box for each kind that its state asks for, and one that needs no one. */
async function makeBoxes(daemon: TestDaemon): Promise<void> {
  for (const name of ["answer", "stuck", "budget", "failed", "review", "idle"]) await memoryBox(daemon, name);
  await daemon.stop();
  await update(daemon, "budget", { run: { ...endedRun, verdict: "out_of_budget" } });
  await update(daemon, "failed", { run: { ...endedRun, verdict: "gave_up" } });
  await update(daemon, "review", { run: { ...endedRun, verdict: "done" } });
  await withStore(daemon, async (store) => {
    const { name: box, incarnation } = (await store.findBox("review"))!;
    const totals = { files: 3, added: 1, deleted: 1 };
    const commit = { commit: "c", tree: "t", head: "h" };
    const value = {
      box,
      incarnation,
      number: 1,
      atMs: 1,
      reason: "turn",
      ...commit,
      totals,
      bytes: 1,
    } as const;
    await store.commit({ review: [{ kind: "checkpoint", key: "1", value }], events: [] });
  });
  await daemon.start();
  for (const [name, state] of [
    ["answer", "waiting"],
    ["stuck", "stuck"],
  ] as const) {
    await daemon.client.startBox(name);
    await update(daemon, name, { run: { ...running, state } });
  }
}

/** Every count on the screen. */
/** On a phone it stands beside the menu. */
const badge = (page: Page) => page.locator(".app-count").filter({ visible: true });

const counts = async (page: Page, list: string) => ({
  title: Number(/^\((\d+)\)/.exec(await page.title())?.[1]),
  badge: Number(await badge(page).textContent()),
  list: Number(/\d+/.exec(list)?.[0]),
});

describeUnless(noBrowser)("what needs the person", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
    await makeBoxes(daemon);
    await boxOn(daemon, "question", { default: "ask" });
  });
  afterAll(() => endAll(daemon, browser));

  /** Holds a question open while the body looks at the screen. */
  async function whileAsked(body: () => Promise<void>): Promise<void> {
    const asking = shell(daemon, "question", "curl -sS -m 55 http://one.test/", 90_000);
    const { id } = await waitFor("the question", async () => (await daemon.client.listApprovals())[0]);
    try {
      await body();
    } finally {
      await daemon.client.answerApproval(id, { answer: "deny" });
      await asking;
    }
  }

  it("is counted once: by the title, the badge, the fleet, the inbox and the command line", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page, origin } = view;
    const total = needKinds.length;
    const all = { title: total, badge: total, list: total };
    await whileAsked(async () => {
      const heading = page.getByRole("heading", { name: /^Needs you: \d+$/ });
      await becomesTrue("the fleet counts the question", async () =>
        ((await heading.textContent().catch(() => "")) ?? "").endsWith(`: ${total}`),
      );
      await becomesTrue("the title follows", async () => (await page.title()).startsWith(`(${total}) `));
      expect(await counts(page, (await heading.textContent()) ?? "")).toEqual(all);
      await page.getByRole("button", { name: `Show all ${total}` }).click();
      const buttons = page.locator(".fleet-need").getByRole("link");
      expect(
        await buttons.evaluateAll((links) => links.map((one) => one.getAttribute("aria-label"))),
      ).toEqual([
        "Decide: question",
        "Answer: answer",
        "Raise the budget: budget",
        "Look: stuck",
        "Find out why: failed",
        "Review: review",
      ]);

      const { needs } = await daemon.json<{ needs: { kind: string; box: string; command: string }[] }>([
        "inbox",
      ]);
      expect(needs.map(({ kind }) => kind)).toEqual(needKinds);
      expect(needs.map(({ command }) => command)).toEqual([
        "agentbox approvals",
        "agentbox attach answer",
        "agentbox budget raise budget --tokens N",
        "agentbox attach stuck",
        "agentbox logs failed",
        "agentbox diff review",
      ]);
      const { stdout } = await daemon.cli(["ls"]);
      expect(stdout).toContain(`Needs you: ${total}. See: agentbox inbox`);

      await page.goto(`${origin}/inbox`);
      await page.getByRole("list", { name: "Questions" }).waitFor();
      await page.getByRole("list", { name: "Boxes that need you" }).waitFor();
      await becomesTrue("the title counts here too", async () => (await page.title()).startsWith("("));
      const items = await page.locator(".inbox-list > li").count();
      expect(await counts(page, String(items))).toEqual(all);
    });
    await becomesTrue("the answered question is forgotten", async () =>
      (await page.title()).startsWith(`(${total - 1}) `),
    );
    expect(await badge(page).textContent()).toBe(String(total - 1));
  });
});
