/**
 * Threat 39: names, diffs and output with markup in them. Every free text of every answer is replaced by markup on its way
 * to the page, and a real box has it in its task, its files, its branch and its output. Nothing of it may become markup.
 */
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ConversationPart } from "../../src/contract/conversation.ts";
import { type TestBrowser, launchBrowser, noBrowser, settled, signedInPage } from "../support/browser.ts";
import type { TestDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { makeProject, worked } from "../support/review.ts";
import { talkedBox } from "../support/conversations.ts";
import { describeUnless } from "../support/skipping.ts";
import { addresses, doneBox, startWebGround } from "../support/web-ground.ts";

const marker = "agentbox-planted";
const corpus = [
  `<img class="${marker}" src="/planted.png" onerror="globalThis.planted=1">`,
  `"><script class="${marker}">globalThis.planted=1</script>`,
  `<svg class="${marker}" onload="globalThis.planted=1"></svg>`,
  `<iframe class="${marker}" srcdoc="<script>parent.planted=1</script>"></iframe>`,
  `javascript:globalThis.planted=1//${marker}`,
  `{{constructor.constructor('globalThis.planted=1')()}}<a class="${marker}" href="javascript:globalThis.planted=1">x</a>`,
];

/** Words that a program reads; what people and boxes write stands in all the others. */
const structural = new Set(
  `name box id type phase kind state runtime agent method tier mode role may scope scopes verdict agentState status
  incarnation digest checkpoint session source verb op protocol via layer answer origin api form with from to of by key
  host secret change action reach address port version pinned recommended day start end workspace restart carry autonomy
  tone category isolation format head cursor lastId startedAtMs`
    .trim()
    .split(/\s+/),
);

function plant(value: unknown, key: string, next: () => string): unknown {
  if (typeof value === "string") return structural.has(key) || value === "" ? value : next();
  if (Array.isArray(value)) return value.map((one) => plant(one, key, next));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plant(one, name, next)]));
}

/** Schemas are data of our own, and a form cannot be made from markup. */
const isOwnData = (path: string) => /^\/v1\/(manifest\/schema|agents|me)$/.test(path);

async function plantAnswers(page: Page): Promise<{ readonly planted: () => number }> {
  let planted = 0;
  const next = () => {
    planted += 1;
    return corpus[planted % corpus.length]!;
  };
  await page.route(
    (url) => url.pathname.startsWith("/v1/") && !isOwnData(url.pathname) && !url.searchParams.has("follow"),
    async (route: Route) => {
      if (route.request().method() !== "GET") return route.continue();
      const answer = await route.fetch().catch(() => undefined);
      if (answer === undefined) return route.abort().catch(() => undefined);
      const isJson = (answer.headers()["content-type"] ?? "").includes("json");
      if (!isJson || !answer.ok()) return route.fulfill({ response: answer }).catch(() => undefined);
      const json = plant(await answer.json(), "", next);
      return route.fulfill({ response: answer, json }).catch(() => undefined);
    },
  );
  return { planted: () => planted };
}

/** The texts as they ended up: elements, handlers that ran, links that would. */
const judge = (page: Page) =>
  page.evaluate((name) => {
    const links = [...document.querySelectorAll("a[href], iframe, object, embed, form[action]")];
    return {
      elements: document.querySelectorAll(`.${name}, img[src*="planted"]`).length,
      ran: (globalThis as { planted?: number }).planted ?? 0,
      addresses: links
        .map(
          (link) =>
            link.getAttribute("href") ?? link.getAttribute("action") ?? link.getAttribute("src") ?? "",
        )
        .filter((address) => /^\s*(javascript|data|vbscript):/i.test(address)),
      isShown: document.body.textContent?.includes(name) ?? false,
    };
  }, marker);

/** Every text that an agent can say, with its markup as Markdown as well. */
const saidInEveryWay = (text: string, index: number): readonly ConversationPart[] => [
  { kind: "message", role: "agent", text: `${text}\n\n# ${text}\n- ${text}\n[${text}](javascript:planted)` },
  { kind: "thinking", text },
  { kind: "tool_called", id: `${index}`, tool: text, summary: text, input: text, diff: `+${text}` },
  { kind: "tool_answered", id: `${index}`, isError: false, summary: text },
  { kind: "file_changed", path: text, change: "created" },
  { kind: "error", message: text, isFatal: false },
];

describeUnless(noBrowser)("threat 39: markup from boxes, repositories and agents", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  const realBox = "shop-markup";
  const talkBox = "talk-markup";
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startWebGround(), launchBrowser()]);
    const project = await makeProject(daemon);
    await project.git("checkout", "-qb", "x<img-src=x-onerror=planted=1>");
    const script = `
      cp src/cart.js '<img src=x onerror=globalThis.planted=1>.js'
      printf '%s\\n' '${corpus[0]!.replaceAll("'", "")}' '${corpus[1]}' > src/cart.js
      mkdir -p '.github/workflows' && printf 'name: ${corpus[2]!.replaceAll('"', "")}\\n' > .github/workflows/x.yml
      printf '%s\\n' '${corpus[3]!.replaceAll("'", "")}'`;
    await worked(daemon, project, realBox, script);
  });
  afterAll(() => endAll(daemon, browser));

  it("the same texts do run where a page makes markup of them (control)", async () => {
    const context = await browser.browser.newContext({ bypassCSP: true });
    const page = await context.newPage();
    await page.setContent("<main></main>");
    await page.evaluate((text) => {
      document.querySelector("main")!.innerHTML = text;
    }, corpus[0]!);
    await expect.poll(async () => (await judge(page)).ran, { timeout: 15_000 }).toBe(1);
    expect((await judge(page)).elements).toBe(1);
    await context.close();
  });

  it("the page's own policy keeps text from becoming markup even where code tries", async () => {
    await using view = await signedInPage(browser, daemon, {
      expected: [/TrustedHTML|Content.Security.Policy/i],
    });
    const refusal = await view.page.evaluate((text) => {
      try {
        document.querySelector("main")!.innerHTML = text;
        return "it became markup";
      } catch (error) {
        return String(error);
      }
    }, corpus[0]!);
    expect(refusal).toMatch(/TrustedHTML/);
  });

  const pages = [...addresses, `/box/${realBox}`, `/box/${realBox}/review`, `/box/${realBox}/timeline`];
  it("no page makes markup of what answers say", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page, origin } = view;
    const { planted } = await plantAnswers(page);
    const shown: string[] = [];
    for (const path of pages) {
      await page.goto(origin + path);
      await settled(page);
      const { isShown, ...found } = await judge(page);
      expect(found, path).toEqual({ elements: 0, ran: 0, addresses: [] });
      if (isShown) shown.push(path);
    }
    // It was really there: a page that shows nothing would pass, too.
    expect(planted()).toBeGreaterThan(200);
    expect(shown).toEqual(expect.arrayContaining(["/", `/box/${doneBox}/review`]));
  });

  it("a real box with markup in file names, contents, its branch and its output is shown as text", async () => {
    await using view = await signedInPage(browser, daemon);
    const { page, origin } = view;
    for (const path of [
      `/box/${realBox}/review`,
      `/box/${realBox}/files`,
      `/box/${realBox}/timeline`,
      "/review",
    ]) {
      await page.goto(origin + path);
      await settled(page);
      const { elements, ran, addresses: links } = await judge(page);
      expect({ elements, ran, links }, path).toEqual({ elements: 0, ran: 0, links: [] });
    }
    await page.goto(`${origin}/box/${realBox}/review`);
    await page.getByText("onerror=globalThis.planted=1").first().waitFor();
  });

  it("a conversation of markup is shown as text, also unfolded", async () => {
    // Last, because it has no files: pages that list work to review would ask for them.
    await talkedBox(daemon, talkBox, corpus.flatMap(saidInEveryWay));
    await using view = await signedInPage(browser, daemon, { path: `/box/${talkBox}` });
    const { page } = view;
    const talk = page.getByRole("region", { name: `Conversation of ${talkBox}` });
    await talk.getByRole("listitem").first().waitFor();
    const folded = talk.getByRole("button", { expanded: false });
    // Each click takes one away, and the end of the conversation, which is on the screen, stays there.
    for (let left = 12; left > 0 && (await folded.count()) > 0; left -= 1) await folded.last().click();
    await talk.getByRole("region", { name: "Output" }).first().waitFor();
    expect(await judge(page)).toEqual({ elements: 0, ran: 0, addresses: [], isShown: true });
  });
});
