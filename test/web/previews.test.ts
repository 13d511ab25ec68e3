/**
 * Previews in a real browser: a server in a box is seen, its scripts and WebSockets work, and a hostile page in the box gets
 * neither to the dashboard, nor to another box, nor out.
 */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo } from "node:net";
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import {
  becomesTrue,
  launchBrowser,
  noBrowser,
  settled,
  signedInPage,
  type TestBrowser,
} from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { describeUnless } from "../support/skipping.ts";
import { emptyBox, eventsOf } from "../security/attack.ts";

const box = "shop-web";
const port = 3000;

/** A page that shows what it is, asks its own server and its own WebSocket, and sets cookies of all kinds. */
const site = `
const page = "<!doctype html><title>Shop</title><h1>Shop</h1><p id=own></p><p id=socket></p><script src=/app.js></script>";
const app = \`
  fetch("/api").then((a) => a.text()).then((t) => { document.getElementById("own").textContent = t; });
  const s = new WebSocket("ws://" + location.host + "/socket");
  s.onmessage = ({ data }) => { document.getElementById("socket").textContent = data; };
\`;
const { createHash } = require("crypto");
require("http").createServer((q, s) => {
  if (q.url === "/app.js") return s.setHeader("content-type", "text/javascript"), s.end(app);
  if (q.url === "/api") return s.end("asked with " + (q.headers.cookie ?? "no cookie"));
  s.setHeader("set-cookie", ["agentbox-session=evil; Path=/", "shop=1; Domain=localhost; Path=/"]);
  s.setHeader("content-type", "text/html");
  s.end(page);
}).on("upgrade", (q, s) => {
  const key = createHash("sha1").update(q.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64");
  s.write("HTTP/1.1 101 x\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\nsec-websocket-accept: " + key + "\\r\\n\\r\\n");
  const text = Buffer.from("through the socket");
  s.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
}).listen(${port}, "127.0.0.1");`;

interface StunServer extends AsyncDisposable {
  readonly port: number;
  readonly packets: number;
}

/** Counts the packets that WebRTC sends to find out its own address; that alone carries data to a listener. */
async function stunServer(): Promise<StunServer> {
  let packets = 0;
  const socket: Socket = createSocket("udp4", () => (packets += 1)).bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    port: socket.address().port,
    get packets() {
      return packets;
    },
    [Symbol.asyncDispose]: async () => void socket.close(),
  };
}

async function plainServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>Plain</title>");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // Of another site than what it asks, because Chromium prefetches nothing of another port of the same site.
    url: `http://plain.localhost:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => server.close().closeAllConnections(),
  };
}

/** Runs in the page. */
async function callStun(stunPort: number): Promise<void> {
  const peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:${stunPort}` }] });
  peer.createDataChannel("out");
  await peer.setLocalDescription(await peer.createOffer()).catch(() => undefined);
}

describeUnless(noBrowser)("previews in the browser", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  /** A server of the host's that the box has no way to. */
  let outside: Server;
  let visits = 0;
  const visited: string[] = [];
  let held = 0;
  const serve = async (name: string): Promise<void> => {
    const spec = { argv: ["node", "-e", site], terminal: false, cols: 80, rows: 24 };
    await daemon.client.startSession(name, { session: "site", spec });
    await waitFor("it listens", async () =>
      (await daemon.client.listPorts(name)).some((one) => one.port === port),
    );
  };
  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
    outside = createServer((request, response) => {
      visits += 1;
      visited.push(request.url ?? "");
      response.setHeader("access-control-allow-origin", "*");
      response.end("outside");
    }).listen(0, "127.0.0.1");
    await once(outside, "listening");
    await emptyBox(daemon, box);
    await serve(box);
  });
  afterAll(async () => {
    outside?.close();
    await endAll(daemon, browser);
  });

  it.each([1280, 390])(
    "a port is found on a page of %i px, and opens in a tab that cannot look back",
    async (width) => {
      await using view = await signedInPage(browser, daemon, { path: `/box/${box}/services`, width });
      await settled(view.page);
      const opened = view.context.waitForEvent("page");
      await view.page.getByRole("button", { name: `Open a preview of port ${port}` }).click();
      const preview = await opened;
      await preview.getByRole("heading", { name: "Shop" }).waitFor();
      await preview.getByText("asked with shop=1").waitFor();
      await preview.getByText("through the socket").waitFor();
      expect(new URL(preview.url()).hostname).toBe(`p${port}-${box}.localhost`);
      expect(preview.url()).not.toContain("pass");
      expect(await preview.evaluate(() => [window.opener, document.referrer])).toEqual([null, ""]);
      // It stays open as people use it: again, and by its plain address.
      await preview.reload();
      await preview.getByRole("heading", { name: "Shop" }).waitFor();

      // Cookies of the box are the preview's alone, and none of ours was touched or can be read.
      const cookies = await view.context.cookies();
      const named = (name: string) => cookies.filter((cookie) => cookie.name === name);
      expect(named("shop")).toMatchObject([{ domain: `p${port}-${box}.localhost` }]);
      expect(named("agentbox-session")).toMatchObject([
        { domain: "127.0.0.1", httpOnly: true, sameSite: "Strict" },
      ]);
      expect(named("agentbox-preview")).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
      expect(await preview.evaluate(() => document.cookie)).toBe("shop=1");
      await view.page.reload();
      await settled(view.page);
      await view.page.getByRole("heading", { name: "Ports" }).waitFor();
    },
  );

  it("a hostile page reaches neither the dashboard nor the API, another name, or anything outside", async () => {
    await using view = await signedInPage(browser, daemon);
    const { url } = await daemon.client.openPreview(box, { port });
    const preview = await view.context.newPage();
    await preview.goto(url);
    await preview.getByRole("heading", { name: "Shop" }).waitFor();
    const outsideUrl = `http://127.0.0.1:${(outside.address() as AddressInfo).port}/`;
    // The control: outside answers every client, and the page can ask its own server.
    expect(await (await fetch(outsideUrl)).text()).toBe("outside");
    expect(visits).toBe(1);
    const asks = (target: string) =>
      preview.evaluate(
        (address) =>
          fetch(address, { credentials: "include" }).then(
            async (answer) => `${answer.status} ${await answer.text()}`,
            () => "refused",
          ),
        target,
      );
    expect(await asks("/api")).toContain("200 asked with");
    for (const target of [
      `${view.origin}/v1/boxes`,
      `${view.origin}/`,
      view.origin.replace("127.0.0.1", "localhost") + "/v1/boxes",
      outsideUrl,
      `${new URL(url).origin.replace(`p${port}`, `p${port + 1}`)}/`,
    ])
      expect(await asks(target), target).toBe("refused");
    const loads = (target: string) =>
      preview.evaluate(
        (address) =>
          new Promise<string>((resolve) => {
            const image = new Image();
            image.addEventListener("load", () => resolve("loaded"));
            image.addEventListener("error", () => resolve("refused"));
            image.src = address;
          }),
        target,
      );
    expect(await loads(outsideUrl)).toBe("refused");
    const frame = await preview.evaluate((address) => {
      const element = document.createElement("iframe");
      element.src = address;
      document.body.append(element);
      return new Promise<string>((resolve) => {
        const look = () => {
          try {
            resolve(element.contentDocument === null ? "closed" : element.contentDocument.title);
          } catch {
            resolve("closed");
          }
        };
        element.addEventListener("load", look);
        element.addEventListener("error", look);
      });
    }, `${view.origin}/`);
    expect(frame).not.toContain("AgentBox");
    const worker = await preview.evaluate(() =>
      navigator.serviceWorker.register("/app.js").then(
        () => "registered",
        () => "refused",
      ),
    );
    expect(worker).toBe("refused");
    // Its own names below /.agentbox are the daemon's, and a cookie that it makes up opens nothing.
    expect(await asks("/.agentbox/secret")).toMatch(/^404 /);
    expect(visits).toBe(1);
  });

  it("a box with secrets is shown after a yes to what it can read", async () => {
    // A box of its own, because a yes stays.
    const heldBox = await emptyBox(daemon, `held-web-${(held += 1)}`, { env: { GIVEN: "x" } });
    await serve(heldBox);
    await using view = await signedInPage(browser, daemon, {
      path: `/box/${heldBox}/services`,
      // The refusal that the question is made of, as the browser notes it.
      expected: [/status of 409/],
    });
    await settled(view.page);
    await view.page.getByText("A preview is a page that the box made.").waitFor();
    const agreedTo = async () => (await eventsOf(daemon, "preview.agreed", heldBox)).length;
    const open = view.page.getByRole("button", { name: `Open a preview of port ${port}` });
    const question = view.page.getByRole("dialog", { name: "Show a box that has secrets?" });
    await open.click();
    await question.getByText("read the variable GIVEN, whose value you gave it").waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await question.waitFor({ state: "hidden" });
    expect(await agreedTo()).toBe(0);
    expect(view.context.pages()).toHaveLength(1);
    await open.click();
    const opened = view.context.waitForEvent("page");
    await question.getByRole("button", { name: "Open preview" }).click();
    const preview = await opened;
    await preview.getByRole("heading", { name: "Shop" }).waitFor();
    expect(await agreedTo()).toBe(1);
  });

  it("a page sends nothing out past the content policy where the browser knows connection allowlists", async (ctx) => {
    const [major = ""] = browser.browser.version().split(".");
    if (Number(major) < 152) ctx.skip(`Chromium ${major} does not know them; 152 does`);
    const { url } = await daemon.client.openPreview(box, { port });
    const context = await browser.browser.newContext();
    await using watched = await stunServer();
    await using known = await stunServer();
    const outsideUrl = `http://127.0.0.1:${(outside.address() as AddressInfo).port}/`;
    const hostile = await context.newPage();
    await hostile.goto(url);
    await hostile.getByRole("heading", { name: "Shop" }).waitFor();
    const speculate = (address: string) => {
      const rules = document.createElement("script");
      rules.type = "speculationrules";
      rules.textContent = JSON.stringify({
        prefetch: [{ source: "list", urls: [`${address}prefetched`], eagerness: "immediate" }],
      });
      document.head.append(rules);
    };
    await hostile.evaluate(speculate, `${outsideUrl}hostile-`);
    await hostile.evaluate(callStun, watched.port);

    // The control: the same, from a page of a server without the header.
    await using plain = await plainServer();
    const free = await context.newPage();
    await free.goto(plain.url);
    await free.evaluate(speculate, `${outsideUrl}plain-`);
    await free.evaluate(callStun, known.port);
    await waitFor(
      "the plain page gets its packet and its prefetch out",
      () => known.packets > 0 && visited.includes("/plain-prefetched"),
    );
    const leave = (address: string) => window.location.assign(`${address}left`);
    await free.evaluate(leave, `${outsideUrl}plain-`);
    await waitFor("the plain page goes there", () => visited.includes("/plain-left"));
    await hostile.evaluate(leave, `${outsideUrl}hostile-`);
    await becomesTrue("the other is stopped", async () => hostile.url().startsWith("chrome-error:"));
    expect(visited.filter((path) => path.startsWith("/hostile"))).toEqual([]);
    expect(watched.packets).toBe(0);
    await context.close();
  });

  it("a link that was used says so, and an address alone shows nothing of the box", async () => {
    // By the command line, as a person without an open dashboard.
    const { ports } = await daemon.json<{ ports: { port: number; program?: string }[] }>(["ports", box]);
    expect(ports).toMatchObject([{ port, program: "node" }]);
    const { code, stdout } = await daemon.cli(["preview", box, String(port), "--print"]);
    expect(code).toBe(0);
    const url = stdout.trim();
    expect((await daemon.cli(["preview", box, "70000"])).code).toBe(2);
    const first = await browser.browser.newContext();
    const page = await first.newPage();
    await page.goto(url);
    await page.getByRole("heading", { name: "Shop" }).waitFor();
    const second = await browser.browser.newContext();
    const late = await second.newPage();
    await late.goto(url);
    await late.getByText("This link has been used").waitFor();
    await late.goto(new URL(url).origin);
    await late.getByText("This preview has not been opened here").waitFor();
    await becomesTrue(
      "nothing of the box is there",
      async () => !(await late.content()).includes("Shop</h1>"),
    );
    await Promise.all([first.close(), second.close()]);
  });
});
