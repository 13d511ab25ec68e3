/**
 * Threats 16 to 19 in a real browser: the owner is signed in, and opens a foreign page that sits on another port of the
 * same host, where the browser hands out its cookies. It tries every route in every way a page can.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { emptyBox } from "../security/attack.ts";
import { type TestBrowser, launchBrowser, noBrowser, signedInPage } from "../support/browser.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { describeUnless } from "../support/skipping.ts";
import { ask, everyRoute } from "../support/web-client.ts";

const box = "hostile-box";

interface Tried {
  /** Answers that a script could read. */
  readonly read: string[];
  readonly opened: string[];
  readonly tries: number;
}

/** Runs in the hostile page, so it can use nothing from here. */
async function attack({
  target,
  routes,
}: {
  target: string;
  routes: { name: string; method: string; path: string; isSocket: boolean }[];
}): Promise<Tried> {
  const read: string[] = [];
  const opened: string[] = [];
  let tries = 0;
  const attempt = async (what: string, init: RequestInit, path: string) => {
    tries += 1;
    try {
      const answer = await fetch(target + path, { credentials: "include", ...init });
      // An opaque answer has arrived, and cannot be read.
      if (answer.type !== "opaque") read.push(`${what} ${answer.status}`);
    } catch {
      // Refused by the browser, because the daemon gives no leave.
    }
  };
  for (const { name, method, path, isSocket } of routes) {
    if (isSocket) {
      for (const protocols of [[], ["agentbox"], ["agentbox", "key."]]) {
        tries += 1;
        await new Promise<void>((resolve) => {
          const socket = new WebSocket(target.replace("http:", "ws:") + path, protocols);
          socket.addEventListener("open", () => opened.push(name));
          for (const end of ["open", "error", "close"]) socket.addEventListener(end, () => resolve());
        });
      }
      continue;
    }
    const body = method === "POST" ? "{}" : undefined;
    await attempt(
      `simple ${name}`,
      { method: method === "GET" ? "GET" : "POST", body: body ?? null, mode: "no-cors" },
      path,
    );
    if (method === "GET") await attempt(`plain ${name}`, { method }, path);
    else
      await attempt(
        `json ${name}`,
        { method, body: body ?? null, headers: { "content-type": "application/json", "agentbox-key": "x" } },
        path,
      );
  }
  const form = document.createElement("form");
  const frame = document.createElement("iframe");
  frame.name = "out";
  document.body.append(frame, form);
  Object.assign(form, {
    method: "POST",
    action: `${target}/v1/daemon/stop`,
    target: "out",
    enctype: "text/plain",
  });
  form.submit();
  const framed = document.createElement("iframe");
  await new Promise<void>((resolve) => {
    framed.addEventListener("load", () => resolve());
    framed.src = `${target}/`;
    document.body.append(framed);
  });
  return { read, opened, tries };
}

describeUnless(noBrowser)("a page of somebody else on the same host", () => {
  let daemon: TestDaemon;
  let browser: TestBrowser;
  let hostile: Server;
  const cookies: string[] = [];

  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), launchBrowser()]);
    await emptyBox(daemon, box);
    hostile = createServer((request, response) => {
      cookies.push(request.headers.cookie ?? "");
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<!doctype html><title>hostile</title><body></body>");
    });
    await new Promise<void>((resolve) => void hostile.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    hostile.close();
    hostile.closeAllConnections();
    await endAll(daemon, browser);
  });

  it("reads nothing, opens nothing and changes nothing, although it gets the cookie", async () => {
    const view = await signedInPage(browser, daemon);
    const routes = everyRoute(box).map(({ name, method, path, isSocket }) => ({
      name,
      method,
      path,
      isSocket,
    }));
    const before = await daemon.client.listEvents({ limit: 1, order: "newest" });
    // The control: the page itself reads and is let in.
    await view.page.getByText(box).first().waitFor();
    const { port } = hostile.address() as AddressInfo;
    const page = await view.context.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    const tried = await page.evaluate(attack, { target: view.origin, routes });
    expect(tried.tries).toBeGreaterThan(2 * routes.length - 10);
    expect(tried.read).toEqual([]);
    expect(tried.opened).toEqual([]);
    // Half a session does not count.
    const [cookie = ""] = cookies.filter((text) => text.includes("agentbox-session="));
    expect(cookie).not.toBe("");
    const half = await ask({ port: Number(new URL(view.origin).port), path: "/v1/me", headers: { cookie } });
    expect(half.status).toBe(401);
    // Nothing of the dashboard is in a frame.
    for (const frame of page.frames().slice(1)) expect(await frame.locator("#root").count()).toBe(0);
    expect((await daemon.client.getBox(box)).box.state.phase).toBe("running");
    const { events } = await daemon.client.listEvents({ after: before.lastId, limit: 1000 });
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(["access.refused"]));
    // And the owner's own page is still signed in.
    await view.page.reload();
    await view.page.getByText(box).first().waitFor();
    await view.context.close();
  });
});
