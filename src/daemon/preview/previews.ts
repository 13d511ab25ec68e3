/**
 * Ports of boxes in a browser. Every request needs a cookie that came from a one-time pass, for this one port of this one box;
 * everything goes through the box's link, so the host itself never connects to anything that a client or a box names.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { AgentBoxError, toAgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { Using } from "../../core/using.ts";
import { cookieValues } from "../cookies.ts";
import { PreviewConsents } from "./preview-consents.ts";
import { forwardRequest, forwardUpgrade } from "./forward.ts";
import { ownCookiePrefix } from "./preview-headers.ts";
import { isPreviewHost, parsePreviewHost, type PreviewTarget, previewOrigin } from "./preview-host.ts";
import { type PreviewGrant, type PreviewHolder, PreviewPasses } from "./preview-passes.ts";
import { createHash } from "node:crypto";

type Parts = Using<"background" | "clock" | "getBox" | "live" | "note" | "secretGrants" | "store">;

/**
 * SECURITY: no GET changes anything, so the pass comes in the part of the address that no server sees, and the page sends it.
 * It is gone from the address before anything of the box is loaded.
 */
const script = `
const pass = new URLSearchParams(location.hash.slice(1)).get("pass") ?? "";
history.replaceState(null, "", location.pathname);
fetch(location.pathname, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ pass }),
}).then((answer) => {
  if (answer.ok) location.replace("/");
  else document.getElementById("say").textContent = "This link has been used, or is too old. Open the preview again.";
}, () => { document.getElementById("say").textContent = "AgentBox does not answer."; });
`;

const scriptHash = createHash("sha256").update(script).digest("base64");

const enterPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Preview</title></head>
<body><p id="say" role="status">Opening the preview…</p><script>${script}</script></body>
</html>
`;

const enterHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; script-src 'sha256-${scriptHash}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
};

const ownPath = "/.agentbox/";
const enterPath = `${ownPath}enter`;
const previewCookie = `${ownCookiePrefix}preview`;
/** A box's page can set many of one name; no more than these are tried. */
const maxCookies = 8;
const maxPassBytes = 1024;
/** Far above what a browser opens at a time, and below what a link takes. */
const maxOpen = 96;
/** How often access to an open preview is checked again, and whether its owner agreed to all of it. */
const askAgainMs = 15_000;
const noteEveryMs = 60_000;
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Where the dashboard is; previews are at the same port, under other names. */
export interface PreviewPort {
  readonly port: number | undefined;
  ensure(): Promise<void>;
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

interface Opening {
  readonly holder: PreviewHolder;
  readonly box: Box;
  readonly port: number;
  readonly mayAgree: boolean;
  readonly agreed: string | undefined;
}

export class Previews {
  readonly #core: Parts;
  readonly #web: PreviewPort;
  readonly #passes: PreviewPasses;
  readonly #consents: PreviewConsents;
  readonly #open = new Map<string, number>();
  readonly #notedAtMs = new Map<string, number>();

  constructor(core: Parts, web: PreviewPort) {
    this.#core = core;
    this.#web = web;
    this.#passes = new PreviewPasses(core.ports.clock);
    this.#consents = new PreviewConsents(core);
  }

  get #webPort(): number {
    return this.#web.port ?? 0;
  }

  /** An address that becomes a cookie in the first browser that opens it. */
  async openFor({
    holder,
    box,
    port,
    mayAgree,
    agreed,
  }: Opening): Promise<{ url: string; expiresAtMs: number }> {
    const { name, incarnation } = box;
    try {
      await this.#consents.require({ box, port, who: holder.who, mayAgree, agreed });
    } catch (error) {
      this.#noteRefusal({ box: name, port }, "secrets");
      throw error;
    }
    await this.#web.ensure();
    const { pass, expiresAtMs } = this.#passes.issue({ box: name, incarnation, port, holder });
    const origin = previewOrigin({ box: name, port }, this.#webPort);
    return { url: `${origin}${enterPath}#pass=${pass}`, expiresAtMs };
  }

  /** Whether a request is for a preview, real or not; nothing else may answer it then. */
  owns(request: IncomingMessage): boolean {
    return (request.headersDistinct["host"] ?? []).some(isPreviewHost);
  }

  /** `admitted` is called for one that has a pass. */
  async answer(request: IncomingMessage, response: ServerResponse, admitted: () => void): Promise<void> {
    response.on("error", () => undefined);
    try {
      const target = this.#targetOf(request);
      if (request.url!.startsWith(ownPath)) return await this.#enter(target, request, response);
      const grant = this.#admit(target, request);
      admitted();
      await this.#requireConsent(target, grant);
      refuseWorkers(request);
      await this.#during(grant, response, (webPort) =>
        forwardRequest(this.#core, grant, webPort, request, response),
      );
    } catch (error) {
      sendFailure(response, toAgentBoxError(error, "port.closed"));
    }
  }

  upgrade(opening: Upgrade, admitted: () => void): void {
    opening.socket.on("error", () => opening.socket.destroy());
    void this.#upgrade(opening, admitted);
  }

  async #upgrade({ request, socket, head }: Upgrade, admitted: () => void): Promise<void> {
    try {
      const target = this.#targetOf(request);
      // SECURITY: a WebSocket is not bound to its own origin by the browser, so this is where it is.
      if (request.headers.origin !== previewOrigin(target, this.#webPort)) throw notYours();
      const grant = this.#admit(target, request);
      admitted();
      await this.#requireConsent(target, grant);
      await this.#during(grant, socket, (webPort) =>
        forwardUpgrade(this.#core, grant, webPort, { request, socket, head }),
      );
    } catch (error) {
      const known = toAgentBoxError(error, "port.closed");
      if (!socket.writable) return void socket.destroy();
      socket.end(`HTTP/1.1 ${known.status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    }
  }

  /** SECURITY: what is meant is said by the Host header alone, in one form; everything else is refused before anything happens. */
  #targetOf(request: IncomingMessage): PreviewTarget {
    const hosts = request.headersDistinct["host"] ?? [];
    const target = hosts.length === 1 ? parsePreviewHost(hosts[0], this.#webPort) : undefined;
    if (!target) throw new AgentBoxError("input.invalid", "This is not the name of a preview.");
    const path = (request.url ?? "").split("?")[0]!;
    if (!path.startsWith("/") || /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path.replaceAll("\\", "/")))
      throw new AgentBoxError("input.invalid", "The request target is not a plain path.");
    if (!methods.has(request.method ?? ""))
      throw new AgentBoxError("request.method_not_allowed", "Previews do not take this method.");
    return target;
  }

  /** A caller without the right to it learns nothing, not even whether there is such a box. */
  #admit(target: PreviewTarget, request: IncomingMessage): PreviewGrant {
    const { origin } = request.headers;
    const isOwnOrigin = origin === undefined || origin === previewOrigin(target, this.#webPort);
    const cookies = cookieValues(request.headers.cookie, previewCookie).slice(0, maxCookies);
    const grant = this.#passes.find(cookies, target);
    if (isOwnOrigin && grant?.holder.isAllowed()) return grant;
    this.#noteRefusal(target, isOwnOrigin ? "no_pass" : "origin");
    throw notYours(target);
  }

  /** SECURITY: with every request, because a box may be given a secret while a page of it is open. */
  async #requireConsent(target: PreviewTarget, grant: PreviewGrant): Promise<void> {
    if (await this.#isAgreed(grant)) return;
    this.#noteRefusal(target, "secrets");
    throw new AgentBoxError("preview.unconfirmed", "The box was given a secret since this was opened.", {
      hint: `Its owner opens it again, from the dashboard or with: agentbox preview ${target.box} ${target.port}`,
    });
  }

  /** A box that is gone, or another one by now, is told apart where the port is opened. */
  async #isAgreed({ box: name, incarnation }: PreviewGrant): Promise<boolean> {
    const box = await this.#core.ports.store.findBox(name);
    return box?.incarnation !== incarnation || this.#consents.covers(box);
  }

  async #enter(target: PreviewTarget, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url !== enterPath) throw new AgentBoxError("request.not_found", "There is no such page.");
    if (request.method === "GET") {
      response.writeHead(200, enterHeaders);
      response.end(enterPage);
      return;
    }
    const isOwn = request.headers.origin === previewOrigin(target, this.#webPort);
    if (request.method !== "POST" || !isOwn || request.headers["content-type"] !== "application/json")
      throw notYours(target);
    const claimed = this.#passes.claim(await readPass(request), target);
    if (!claimed?.grant.holder.isAllowed()) {
      this.#noteRefusal(target, "used_pass");
      throw notYours(target);
    }
    const { box, port, holder } = claimed.grant;
    const record = await this.#core.getBox(box);
    await this.#core.note("preview.opened", record, { port, by: holder.who });
    response.writeHead(200, {
      "content-type": "application/json",
      "cache-control": "no-store",
      "set-cookie": `${previewCookie}=${claimed.cookie}; HttpOnly; SameSite=Strict; Path=/`,
    });
    response.end("{}");
  }

  /** Counts the open connections of a box, and ends them when their caller loses access. */
  async #during(
    grant: PreviewGrant,
    end: { destroy(): unknown },
    task: (webPort: number) => Promise<void>,
  ): Promise<void> {
    const { box, holder } = grant;
    if (!holder.isAllowed()) throw notYours();
    const open = this.#open.get(box) ?? 0;
    if (open >= maxOpen)
      throw new AgentBoxError("box.unreachable", "Too many requests to this box are under way.");
    this.#open.set(box, open + 1);
    const release = holder.hold(() => end.destroy());
    let cancel: () => void = () => undefined;
    let isOver = false;
    const askAgain = async (): Promise<void> => {
      const isAgreed = holder.isAllowed() && (await this.#isAgreed(grant).catch(() => false));
      if (!isAgreed) end.destroy();
      else if (!isOver) wait();
    };
    const wait = (): void => {
      cancel = this.#core.ports.clock.after(askAgainMs, () => void askAgain());
    };
    wait();
    try {
      await task(this.#webPort);
    } finally {
      isOver = true;
      cancel();
      release();
      const left = (this.#open.get(box) ?? 1) - 1;
      if (left === 0) this.#open.delete(box);
      else this.#open.set(box, left);
    }
  }

  /** SECURITY: any page can make a browser ask, so a refusal of a kind is written down once a minute for each box. */
  #noteRefusal({ box: name, port }: PreviewTarget, reason: string): void {
    const core = this.#core;
    const note = async (): Promise<void> => {
      const box = await core.ports.store.findBox(name);
      const key = `${name} ${reason}`;
      const nowMs = core.ports.clock.monotonicMs();
      if (!box || nowMs - (this.#notedAtMs.get(key) ?? -noteEveryMs) < noteEveryMs) return;
      this.#notedAtMs.set(key, nowMs);
      await core.note("preview.refused", box, { port, reason });
    };
    core.background("noting a refused preview", note());
  }
}

/** SECURITY: a service worker outlives the box that it came from, and would serve the next one that gets its name. */
function refuseWorkers(request: IncomingMessage): void {
  if (request.headers["service-worker"] === undefined) return;
  throw new AgentBoxError("preview.refused", "Service workers are not let into previews.");
}

const notYours = (target?: PreviewTarget): AgentBoxError =>
  new AgentBoxError("preview.refused", "This preview has not been opened here.", {
    hint: `Open it from the dashboard${target ? `, or with: agentbox preview ${target.box} ${target.port}` : ""}`,
  });

async function readPass(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString("latin1");
    if (text.length > maxPassBytes)
      throw new AgentBoxError("input.too_large", "The request body is not a pass.");
  }
  try {
    const { pass } = JSON.parse(text) as { pass?: unknown };
    return typeof pass === "string" ? pass : "";
  } catch {
    throw new AgentBoxError("input.invalid", "The request body is not JSON.");
  }
}

/** For a person in front of a browser, in words. */
function sendFailure(response: ServerResponse, error: AgentBoxError): void {
  if (response.headersSent) return void response.destroy();
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const text = `${error.message}\n${error.hint ?? ""}\n`;
  response.writeHead(error.status, {
    "content-type": "text/plain; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "agentbox-error": error.code,
    connection: "close",
  });
  response.end(text);
}
