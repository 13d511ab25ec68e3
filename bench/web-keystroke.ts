// A key in the dashboard's terminal until its echo is drawn, against the same key sent over the daemon's unix socket
// until its echo is received: what the browser, the page and the web port add. Median of 200 each, in one run. The goal
// is 10 ms more; drawing itself waits for the browser's next frame.
import { signedInPage, launchBrowser } from "../test/support/browser.ts";
import { type TestDaemon, withDaemon } from "../test/support/daemon.ts";
import { openTerminal, startBox, startProgram } from "../test/support/web-terminal.ts";
import { type Bench, compare, median } from "./support/bench.ts";
import { whyNoWebBench } from "./support/web-session.ts";

const name = "web-keystroke";
const keys = 200;
const mayAddMs = 10;
/** The terminal itself echoes; no program reads. */
const echoes = ["sh", "-c", "stty -icanon; exec sleep 100000"];

async function overSocket({ client }: TestDaemon): Promise<number> {
  const stream = await client.attach("keys", "direct", { cols: 80, rows: 24 });
  let heard = (): void => undefined;
  stream.onData(() => heard());
  await new Promise<void>((resolve) => stream.onText(() => resolve()));
  const times: number[] = [];
  for (let count = 0; count < keys; count += 1) {
    const echoed = new Promise<void>((resolve) => (heard = resolve));
    const started = performance.now();
    stream.sendData(Buffer.from("x"));
    await echoed;
    times.push(performance.now() - started);
  }
  stream.close();
  return median(times);
}

interface Recorder {
  echoTimes?: number[];
}

async function inBrowser(daemon: TestDaemon): Promise<number> {
  await using browser = await launchBrowser();
  await using view = await signedInPage(browser, daemon);
  const { page, origin } = view;
  await openTerminal(page, origin, "keys", "typed");
  await page.evaluate(() => {
    const times: number[] = [];
    (globalThis as Recorder).echoTimes = times;
    const rows = document.querySelector(".xterm-rows")!;
    const count = () => (rows.textContent?.match(/x/g) ?? []).length;
    let pressed = 0;
    let before = 0;
    document.addEventListener(
      "keydown",
      () => {
        before = count();
        pressed = performance.now();
      },
      true,
    );
    new MutationObserver(() => {
      if (pressed === 0 || count() === before) return;
      times.push(performance.now() - pressed);
      pressed = 0;
    }).observe(rows, { childList: true, subtree: true, characterData: true });
  });
  const measured = () => page.evaluate(() => (globalThis as Recorder).echoTimes ?? []);
  for (let count = 1; count <= keys; count += 1) {
    await page.keyboard.press("x");
    while ((await measured()).length < count) await page.waitForTimeout(1);
  }
  return median(await measured());
}

const bench: Bench = {
  name,
  about: "a key's echo on the dashboard's screen against the same over the unix socket",
  needs: { bwrap: "bubblewrap", chromium: "chromium" },
  async run() {
    const missing = await whyNoWebBench();
    if (missing) return [{ name, skipped: missing }];
    return withDaemon(async (daemon) => {
      await startBox(daemon, "keys");
      for (const session of ["direct", "typed"]) await startProgram(daemon, "keys", session, echoes);
      const peer = await overSocket(daemon);
      const ours = await inBrowser(daemon);
      const alsoOk = ours - peer <= mayAddMs;
      return [compare({ name, unit: "ms", ours, peer, peerName: "the unix socket", goal: 1, alsoOk })];
    });
  },
};
export default bench;
