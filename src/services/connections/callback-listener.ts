/**
 * Listens on loopback for the one request that ends a sign-in. It answers that request once, and everything else
 * with 404; then it is gone.
 */
import { timingSafeEqual } from "node:crypto";
import {
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
  type OutgoingHttpHeaders,
} from "node:http";
import type { AddressInfo } from "node:net";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { WaitingConnections } from "../../host/waiting-connections.ts";
import { redirectPath, redirectUri } from "./redirect-address.ts";

/** The page at the end of a sign-in: plain, nothing to load, nothing to run, and not kept by the browser. */
const pageHeaders: OutgoingHttpHeaders = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  // SECURITY: the address of this page has the code; no later page is told of it.
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close",
};

const callbackPage = (isConnected: boolean, message: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>AgentBox</title><h1>${
    isConnected ? "Connected" : "Not connected"
  }</h1><p>${escapeHtml(message)}</p><p>You can close this page.</p></html>\n`;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** SECURITY: names and codes in the message come from outside; as markup they would run in the person's browser. */
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => entities[c]!);

export interface CallbackOutcome {
  readonly isConnected: boolean;
  readonly message: string;
}

export interface CallbackOptions {
  readonly state: string;
  readonly port: number | undefined;
  /** Called at most once, with the redirect address and the query that came. Never fails. */
  readonly onAnswer: (answer: URL) => Promise<CallbackOutcome>;
}

export interface CallbackListener {
  readonly redirectUri: string;
  close(): void;
}

export async function openCallbackListener(options: CallbackOptions): Promise<CallbackListener> {
  let isUsed = false;
  const server = createServer({
    maxHeaderSize: 32 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
  });
  server.maxConnections = 128;
  // SECURITY: none is admitted, so a program that fills the listener loses its own connections, and the browser gets
  // in.
  void new WaitingConnections(server, { most: 16 });
  const port = await listen(server, options.port ?? 0);
  server.on("request", (request, response) => {
    const answer = isUsed ? undefined : answerOf(request, port, options.state);
    if (answer === undefined) {
      response.writeHead(404, { connection: "close" }).end();
      return;
    }
    // SECURITY: before anything is awaited, so that a code which is sent twice is used once.
    isUsed = true;
    server.close();
    void respond(response, options.onAnswer(answer));
  });
  return {
    redirectUri: redirectUri(port),
    close: () => {
      isUsed = true;
      server.close();
      server.closeIdleConnections();
    },
  };
}

async function respond(response: ServerResponse, outcome: Promise<CallbackOutcome>): Promise<void> {
  const { isConnected, message } = await outcome;
  response.writeHead(isConnected ? 200 : 400, pageHeaders).end(callbackPage(isConnected, message));
}

/** The answer of the sign-in, if this request is one. */
function answerOf(request: IncomingMessage, port: number, state: string): URL | undefined {
  // SECURITY: a web page can make the browser ask this port under a name of its own (DNS rebinding); the Host tells.
  if (request.method !== "GET" || request.headers.host !== `127.0.0.1:${port}`) return undefined;
  const answer = new URL(redirectUri(port));
  const target = request.url ?? "";
  const mark = target.indexOf("?");
  if (mark < 0 || target.slice(0, mark) !== redirectPath) return undefined;
  answer.search = target.slice(mark);
  const states = answer.searchParams.getAll("state");
  // SECURITY: without the state anyone could end the sign-in with a code of their own (login CSRF).
  return states.length === 1 && isSame(states[0]!, state) ? answer : undefined;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new AgentBoxError("connection.failed", `The browser cannot come back to port ${port} of this host.`, {
          hint:
            systemCode(error) === "EADDRINUSE"
              ? "Another program, or another sign-in, uses the port. End it, or use --device."
              : "Use --device.",
        }),
      ),
    );
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
