/** The first page of a box with an agent: the conversation, live, searchable, of any length, and never more than text. */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ConversationPart } from "../../src/contract/conversation.ts";
import { onAgents } from "../support/agents.ts";
import {
  type TestBrowser,
  becomesTrue,
  launchBrowser,
  noBrowser,
  settled,
  signedInPage,
} from "../support/browser.ts";
import { longConversation, talkedBox, turn } from "../support/conversations.ts";
import { modelRecord, withStore } from "../support/many-boxes.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

const markup = "<img src=x onerror=alert(1)>";
const hostile: readonly ConversationPart[] = [
  {
    kind: "asked",
    text: "Make the cart add up.\n\nThe total counts items; it should add their prices.",
    from: "owner",
  },
  ...turn(1, 2).slice(1, -3),
  {
    kind: "message",
    role: "agent",
    text: [
      "## Done",
      `The total adds up now. ${markup} \u202e [the docs](javascript:alert) and [more](https://example.test/a)`,
      "```js",
      "export const total = sum(items);",
      "```",
      "1. run the tests",
      "2. merge",
    ].join("\n"),
  },
  {
    kind: "tool_called",
    id: "x",
    tool: `Bash${markup}`,
    summary: `echo '${markup}'`,
    input: `command: ${markup}`,
  },
  { kind: "tool_answered", id: "x", isError: true, summary: `${markup}\n\u001b[2J` },
  { kind: "file_changed", path: `/workspace/${markup}.js`, change: "created" },
  ...turn(1, 1).slice(-2),
];

const talk = (page: Page, box: string) => page.getByRole("region", { name: `Conversation of ${box}` });

describeUnless(noBrowser)("the conversation in the dashboard", () => {
  onAgents("with an agent that works", { fixtures: ["notebot"] }, (ground) => {
    secondTryAfresh(() => ground.daemon);
    let browser: TestBrowser;
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterAll(() => browser[Symbol.asyncDispose]());

    it.each([1280, 390])("shows what agents say as text, at %i px", async (width) => {
      const { daemon } = ground;
      const box = `hostile-box-${width}`;
      await talkedBox(daemon, box, hostile);
      await using view = await signedInPage(browser, daemon, { path: `/box/${box}`, width });
      const { page } = view;
      const region = talk(page, box);
      await region.getByRole("heading", { name: "Done" }).waitFor();
      await region.getByText("U+202E").waitFor();
      // The message's own form is rendered; markup stays text.
      expect(await region.locator("ol li").count()).toBe(2);
      expect(await region.locator("img, a[href^='javascript']").count()).toBe(0);
      await region.getByRole("button", { name: "the docs" }).click();
      await page.getByRole("dialog").getByText("cannot be opened").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
      await region.getByRole("button", { name: /^Bash/ }).last().click();
      await region.getByRole("region", { name: "Output" }).getByText("U+001B").waitFor();
      expect(await region.locator("img").count()).toBe(0);
      const { scrollWidth, clientWidth } = await page.evaluate(() => ({
        scrollWidth: document.documentElement.scrollWidth,
        clientWidth: document.documentElement.clientWidth,
      }));
      expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
    });

    it("unfolds a tool to its change and its output, and leads to the review of the turn", async () => {
      const { daemon } = ground;
      await talkedBox(daemon, "edit-box", turn(1, 1));
      await using view = await signedInPage(browser, daemon, { path: "/box/edit-box" });
      const { page } = view;
      const region = talk(page, "edit-box");
      const tool = region.getByRole("button", { name: /^Edit/ });
      await tool.waitFor();
      expect(await region.getByText("sum(items)").count()).toBe(0);
      await tool.click();
      await region
        .getByRole("region", { name: "Change" })
        .getByText("+export const total = sum(items);")
        .waitFor();
      await region.getByRole("region", { name: "Output" }).getByText("ok 0").first().waitFor();
      await region.getByText("12.3k tokens").waitFor();
      await region.getByText("$0.05").waitFor();
      expect(await region.getByRole("link", { name: "Review this turn" }).getAttribute("href")).toMatch(
        /\/box\/edit-box\/review\?to=/,
      );
    });

    it("draws a part of a long one, finds in all of it, and opens at the turn of a link", async () => {
      const { daemon } = ground;
      const parts = longConversation(5_000);
      await talkedBox(daemon, "long-box", parts);
      await using view = await signedInPage(browser, daemon, { path: "/box/long-box" });
      const { page } = view;
      const region = talk(page, "long-box");
      const last = parts.filter(({ kind }) => kind === "asked").length;
      await page.getByText(/^3,?\d{3} entries$|^\d{4} entries$/).waitFor();
      expect(await region.getByRole("listitem").count()).toBeLessThan(80);
      await page.getByRole("searchbox", { name: "Search the conversation" }).fill("Task 3:");
      await region.getByText("Task 3: make the cart add up.").waitFor();
      await page.getByText("1 of 1", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Go to the newest" }).click();
      await becomesTrue("the end is shown", async () => (await region.getByText("12.3k tokens").count()) > 0);
      await page.goto(`${view.origin}/box/long-box?turn=${last - 40}`);
      await region.getByText(`Task ${last - 40}:`).waitFor();
      expect(await region.getByText(`Task ${last}:`).count()).toBe(0);
    });

    it("has the composer, and shows what comes of it as it comes", async () => {
      const { daemon } = ground;
      ground.play([{ text: "the **first** answer", usage: { input: 120, output: 7 } }]);
      const args = ["run", "notebot", "--name", "live-box", "--task", "Write a note."];
      expect((await daemon.cli(args, { cwd: await ground.project() })).code).toBe(0);
      await using view = await signedInPage(browser, daemon, { path: "/box/live-box" });
      const { page } = view;
      const region = talk(page, "live-box");
      await region.getByText("You", { exact: true }).waitFor();
      await region.locator("strong", { hasText: "first" }).waitFor();
      ground.play([{ text: "and the second", usage: { input: 10, output: 2 } }]);
      await page.getByRole("textbox", { name: "Message to the agent" }).fill("Once more.");
      await page.getByRole("button", { name: "Send" }).click();
      await region.getByText("Once more.").waitFor();
      await region.getByText("and the second").waitFor();
      await region.getByText("turn 2", { exact: true }).waitFor();
      await becomesTrue(
        "the second turn has its cost",
        async () => (await region.getByText("12 tokens").count()) === 1,
      );
      await page.getByRole("link", { name: "Overview" }).click();
      await page.getByRole("heading", { name: "Work" }).waitFor();
    });

    it("says on the first page what agents do, what today has cost, and which box spent most", async () => {
      const { daemon } = ground;
      const { box } = await daemon.client.getBox("edit-box");
      await withStore(daemon, (store) =>
        store.recordModel([modelRecord(box, { atMs: Date.now(), costMicroUsd: 7_000_000 })]),
      );
      await using view = await signedInPage(browser, daemon);
      const { page } = view;
      await page.getByText(/^Today: \$7\.\d\d, .* tokens\. Most: edit-box, \$7\.00$/).waitFor();
      await page.getByText("Task 1: make the cart add up.").first().waitFor();
      await page.getByText("Once more.").first().waitFor();
    });

    it.each([1280, 390])("is accessible in light and dark at %i px", async (width) => {
      const { daemon } = ground;
      await using view = await signedInPage(browser, daemon, { width });
      const { page } = view;
      await view.context.addInitScript({ content: axe.source });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.goto(`${view.origin}/box/edit-box`);
        await settled(page);
        await talk(page, "edit-box").getByRole("button", { name: /^Edit/ }).click();
        const found = await page.evaluate(async () => {
          const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
            resultTypes: ["violations"],
          });
          return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
        });
        expect(found).toEqual([]);
      }
    });
  });
});
