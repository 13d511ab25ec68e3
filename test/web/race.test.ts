/** A race from the page: all runners are planned before one of them starts, and then the page of the race opens. */
import { chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type AgentGround, boxOf, onAgents } from "../support/agents.ts";
import {
  type TestBrowser,
  becomesTrue,
  launchBrowser,
  noBrowser,
  settled,
  signedInPage,
} from "../support/browser.ts";
import { secondTryAfresh } from "../support/second-try.ts";
import { describeUnless } from "../support/skipping.ts";

/** A second agent that only a file defines; its program is Notebot's when it is installed. */
async function writeAgent({ daemon }: AgentGround, name: string): Promise<void> {
  const directory = join(daemon.home, "agents");
  const text = readFileSync(join(directory, "notebot.toml"), "utf8");
  const file = join(directory, `${name}.toml`);
  writeFileSync(file, text.replace('name = "notebot"', `name = "${name}"`).replace("Notebot", name));
  const { uid, gid } = statSync(daemon.home);
  chownSync(file, uid, gid);
}

const raceButton = (page: Page) => page.getByRole("button", { name: /^Create \d+ boxes and race$/ });
const rival = (page: Page, name: string) =>
  page.getByRole("group", { name: "Other agents" }).getByRole("button", { name, exact: true });

async function fillRace(page: Page, dir: string, rivals: readonly string[]): Promise<void> {
  await page.getByLabel("Task").fill("Write a note.");
  await page.getByLabel("Project directory").fill(dir);
  await page.getByLabel("Agent", { exact: true }).selectOption("notebot");
  await page.getByText("Race several agents").click();
  for (const name of rivals) await rival(page, name).click();
  await becomesTrue("the race can start", () => raceButton(page).isEnabled());
}

describeUnless(noBrowser)("a race from the page", () => {
  onAgents("with two agents of a person's own", { fixtures: ["notebot"] }, (ground) => {
    secondTryAfresh(() => ground.daemon);
    let browser: TestBrowser;
    beforeAll(async () => {
      browser = await launchBrowser();
      await writeAgent(ground, "scribe");
      const program = new URL("../fixtures/agents/notebot", import.meta.url).pathname;
      const added = await ground.daemon.cli(["agents", "add", "scribe", "--from", program]);
      if (added.code !== 0) throw new Error(added.stderr);
      await writeAgent(ground, "absentbot");
    });
    afterAll(() => browser?.[Symbol.asyncDispose]());
    const names = async () => (await ground.daemon.client.listBoxes()).map(({ name }) => name);

    it.each([
      [1280, 1],
      [390, 2],
    ])("starts both agents and opens the race, at %s px", async (width, heat) => {
      const { daemon } = ground;
      ground.play([{ text: `raced ${heat}`, usage: { input: 10, output: 5 } }]);
      const dir = await ground.project();
      await using view = await signedInPage(browser, daemon, { path: "/new", width, height: 800 });
      const { page } = view;
      await settled(page);
      await fillRace(page, dir, ["scribe"]);
      await raceButton(page).click();
      await becomesTrue(
        "the race is open",
        async () => new URL(page.url()).pathname === `/race/race-${heat}`,
      );
      for (const agent of ["notebot", "scribe"]) {
        const name = `race-${heat}-${agent}`;
        const runner = page.getByRole("article", { name });
        await runner.getByText("15 tokens").waitFor();
        await runner.getByText("1 file", { exact: true }).waitFor();
        expect((await boxOf(daemon, name)).run?.task).toBe("Write a note.");
      }
      await page.getByRole("region", { name: "Changes" }).getByText(`raced ${heat}`).first().waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    });

    it("starts nobody when one of them cannot be, and says why", async () => {
      const before = await names();
      const dir = await ground.project();
      await using view = await signedInPage(browser, ground.daemon, { path: "/new" });
      const { page } = view;
      await settled(page);
      await fillRace(page, dir, ["scribe", "absentbot"]);
      await raceButton(page).click();
      await page.getByRole("heading", { name: "The race was not created" }).waitFor();
      await page.getByRole("region", { name: "Progress" }).getByRole("alert").waitFor();
      expect(await names()).toEqual(before);
      // Without the one that cannot be installed, the same form would do.
      await page.getByRole("button", { name: "Back to the form" }).click();
      await page.getByText("Race several agents").click();
      await rival(page, "absentbot").click();
      await becomesTrue("the race can start", () => raceButton(page).isEnabled());
      await page.getByRole("tab", { name: "Command line" }).click();
      await becomesTrue("the command is a race", async () =>
        ((await page.locator(".new-box-text").textContent()) ?? "").includes(
          "agentbox race --agents notebot,scribe --task 'Write a note.'",
        ),
      );
    });
  });
});
