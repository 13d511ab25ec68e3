/** A real browser for tests: Debian's Chromium, and pages that tell when they did something they must not. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Browser, type BrowserContext, type Page, chromium } from "playwright-core";
import { waitFor } from "../../src/base/wait-for.ts";
import type { TestDaemon } from "./daemon.ts";

const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const program = programs.find((path) => existsSync(path));

/** Why there can be no browser test here, if so; for describeUnless. */
export const noBrowser =
  program === undefined ? "Chromium is not installed: apt-get install chromium" : undefined;

const switches = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  // A browser asks for names of its maker as it starts; here it would only wait for them.
  "--no-proxy-server",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost , EXCLUDE *.localhost",
];

export interface TestBrowser extends AsyncDisposable {
  readonly browser: Browser;
}

export interface BrowserOptions {
  /** Through which it is started, such as into the network of a test. */
  readonly wrap?: ((argv: readonly string[]) => readonly string[]) | undefined;
}

/** Playwright starts a file; this one starts the browser through something else. */
function wrapped(wrap: (argv: readonly string[]) => readonly string[]): string {
  const directory = mkdtempSync("/tmp/abx-browser-");
  const file = join(directory, "chromium");
  const quoted = wrap([program ?? ""]).map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  writeFileSync(file, `#!/bin/sh\nexec ${quoted.join(" ")} "$@"\n`, { mode: 0o700 });
  return file;
}

export async function launchBrowser({ wrap }: BrowserOptions = {}): Promise<TestBrowser> {
  const executable = wrap === undefined ? (program ?? "") : wrapped(wrap);
  const browser = await chromium.launch({
    executablePath: executable,
    headless: true,
    args: switches,
    timeout: 60_000,
  });
  return {
    browser,
    async [Symbol.asyncDispose]() {
      await browser.close();
      if (wrap !== undefined) rmSync(dirname(executable), { recursive: true, force: true });
    },
  };
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  readonly permissions?: readonly string[];
  /** Runs in the page before anything of the page itself; a function without references to the outside. */
  readonly before?: () => void;
  /** Where to go once signed in; the fleet unless given. */
  readonly path?: string;
  /** Console errors that the test causes on purpose. */
  readonly expected?: readonly RegExp[];
}

/** A page of a signed-in user. Disposing fails when it broke one of its promises. */
export interface TestPage extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Address of the dashboard, without a path. */
  readonly origin: string;
  /** The failures so far: console errors, policy violations, requests to other servers. */
  readonly complaints: readonly string[];
}

const waitMs = 60_000;

/** An end of the daemon is seen in the console, by the browser's own words; the tests cause it. */
const ownNoise = [
  /net::ERR_CONNECTION_REFUSED/,
  /net::ERR_(INCOMPLETE|EMPTY)/,
  /WebSocket connection to .* failed/,
];

function watch(page: Page, origin: string, expected: readonly RegExp[]): string[] {
  const complaints: string[] = [];
  const isExpected = (text: string) => [...ownNoise, ...expected].some((pattern) => pattern.test(text));
  const complain = (text: string) => void (isExpected(text) ? undefined : complaints.push(text));
  page.on("console", (message) => {
    if (message.type() === "error") complain(`console: ${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => complain(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    const isOwn = url.origin === origin || url.protocol === "data:" || url.protocol === "blob:";
    if (!isOwn) complain(`request beyond the daemon: ${request.url()}`);
  });
  return complaints;
}

/** Opens a one-time link of the daemon's owner, or of the owner of `url`, and waits until the page is there. */
export async function signedInPage(
  { browser }: TestBrowser,
  daemon: Pick<TestDaemon, "client">,
  options: PageOptions & { readonly url?: string } = {},
): Promise<TestPage> {
  const url = options.url ?? (await daemon.client.openLink()).url;
  const { origin } = new URL(url);
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    colorScheme: options.theme ?? "light",
    permissions: [...(options.permissions ?? [])],
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(waitMs);
  if (options.before) await context.addInitScript(options.before);
  const page = await context.newPage();
  const complaints = watch(page, origin, options.expected ?? []);
  await page.goto(url);
  await page.locator(".app-main").waitFor();
  if (options.path !== undefined) await page.goto(origin + options.path);
  await page.locator(".app-main").waitFor();
  return {
    page,
    context,
    origin,
    complaints,
    async [Symbol.asyncDispose]() {
      await context.close();
      if (complaints.length > 0) throw new Error(`The page did what it must not:\n${complaints.join("\n")}`);
    },
  };
}

/** Until nothing is being loaded and no place is held for something. */
export async function settled(page: Page): Promise<void> {
  await page.locator(".app-main").waitFor();
  await waitFor(
    "nothing is on its way",
    async () => (await page.locator(".parts-skeleton").count()) === 0,
    waitMs,
  );
}

/** Asks again until it is so. The page's policy forbids eval, which Playwright's own waiting for a function needs. */
export const becomesTrue = (
  what: string,
  ask: () => Promise<boolean>,
  timeoutMs = waitMs,
): Promise<boolean> => waitFor(what, ask, timeoutMs);
