/** The web port as programs and hostile pages see it: any header can be set, which a browser would not allow. */
import { type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { WebSocket } from "ws";
import type { Route } from "../../src/contract/api/route.ts";
import { type RouteName, routeNames, routeTable } from "../../src/contract/api/routes.ts";
import type { TestDaemon } from "./daemon.ts";

export interface WebAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Code of the error, where it is one. */
  readonly code: string | undefined;
}

export interface WebSession {
  /** `http://127.0.0.1:7420` */
  readonly origin: string;
  readonly port: number;
  readonly cookie: string;
  readonly key: string;
  /** Both halves, as headers. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Ask {
  readonly port: number;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

const codeOf = (text: string): string | undefined => {
  try {
    return (JSON.parse(text) as { error?: { code?: string } }).error?.code;
  } catch {
    return undefined;
  }
};

/** One request. A stream that has no end is left after its first words. */
export function ask({ port, method = "GET", path, headers = {}, body }: Ask): Promise<WebAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false });
    outgoing.on("error", reject);
    outgoing.on("response", (answer) => {
      const isEndless = answer.headers["content-type"] === "text/event-stream";
      let text = "";
      const done = () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, code: codeOf(text) });
      answer.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (isEndless) {
          outgoing.destroy();
          done();
        }
      });
      answer.on("end", done);
      answer.on("error", done);
    });
    outgoing.end(body);
  });
}

export interface OpenEvents {
  /** Status of the answer. */
  readonly isOpen: Promise<number>;
  readonly isClosed: Promise<void>;
  /** The events so far. */
  text(): string;
  close(): void;
}

/** Follows the event log until it is closed, by whichever side. */
export function openEvents(port: number, headers: Readonly<Record<string, string>>, query = ""): OpenEvents {
  const outgoing = httpRequest({
    host: "127.0.0.1",
    port,
    path: `/v1/events?follow=true${query}`,
    headers,
    agent: false,
  });
  let text = "";
  const isOpen = new Promise<number>((resolve, reject) => {
    outgoing.on("response", ({ statusCode = 0 }) => resolve(statusCode));
    outgoing.on("error", reject);
  });
  const isClosed = new Promise<void>((resolve) => {
    outgoing.on("response", (answer) => {
      answer.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      answer.on("error", () => undefined);
      answer.on("close", () => resolve());
    });
  });
  outgoing.end();
  return { isOpen, isClosed, text: () => text, close: () => outgoing.destroy() };
}

/** The bytes of a request as they are, and the status line of the answer. */
export function askRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString();
      if (!answer.includes("\r\n")) return;
      socket.destroy();
      resolve(answer.slice(0, answer.indexOf("\r\n")));
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}

/** Opens a one-time link as a page would. */
export async function claimLink(url: string): Promise<WebSession> {
  const { origin, port, hash } = new URL(url);
  const code = new URLSearchParams(hash.slice(1)).get("link");
  const answer = await ask({
    port: Number(port),
    method: "POST",
    path: "/auth/claim",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({ code }),
  });
  if (answer.status !== 200) throw new Error(`The link was not taken: ${answer.status} ${answer.text}`);
  const { key } = JSON.parse(answer.text) as { key: string };
  const cookie = /agentbox-session=([^;]+)/.exec(answer.headers["set-cookie"]?.[0] ?? "")?.[1] ?? "";
  const headers = { cookie: `agentbox-session=${cookie}`, "agentbox-key": key };
  return { origin, port: Number(port), cookie, key, headers };
}

export const signIn = async ({ client }: Pick<TestDaemon, "client">): Promise<WebSession> =>
  claimLink((await client.openLink()).url);

export interface SocketAsk {
  readonly port: number;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
}

/** The socket once it is open, or the status with which the upgrade was refused. */
export function openSocket({
  port,
  path,
  headers = {},
  protocols = [],
}: SocketAsk): Promise<WebSocket | number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, [...protocols], { headers });
    socket.on("unexpected-response", (_request, answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    socket.on("error", (error) => {
      if (socket.readyState !== socket.CLOSED && socket.readyState !== socket.CLOSING) reject(error);
    });
    socket.on("open", () => resolve(socket));
  });
}

/** How a page of this session opens a WebSocket. */
export const asPage = ({ port, origin, cookie, key }: WebSession, path: string): SocketAsk => ({
  port,
  path,
  headers: { origin, cookie: `agentbox-session=${cookie}` },
  protocols: ["agentbox", `key.${key}`],
});

export interface TriedRoute {
  readonly name: RouteName;
  readonly route: Route;
  readonly method: string;
  readonly path: string;
  readonly isSocket: boolean;
}

/** Every route there is, about one box. */
export const everyRoute = (box: string): TriedRoute[] =>
  routeNames.map((name) => {
    const route = routeTable[name];
    const path = route.path
      .replace("{box}", box)
      .replace("{session}", "main")
      .replace("{approval}", "1")
      .replace(/\{\w+\}/g, "x");
    return { name, route, method: route.method, path, isSocket: route.media === "websocket" };
  });

/** Tries a route in the way that is its own; a socket that opens counts as 101. */
export async function tryRoute(
  { method, path, isSocket }: TriedRoute,
  port: number,
  headers: Readonly<Record<string, string>>,
  protocols: readonly string[] = [],
): Promise<{ status: number; code: string | undefined }> {
  if (isSocket) {
    const socket = await openSocket({ port, path, headers, protocols });
    if (typeof socket === "number") return { status: socket, code: undefined };
    socket.terminate();
    return { status: 101, code: undefined };
  }
  const isChange = method !== "GET";
  const { status, code } = await ask({
    port,
    method,
    path,
    headers: { ...(isChange ? { "content-type": "application/json" } : {}), ...headers },
    // A body that no route takes, so that nothing is done even if the caller is let in.
    body: method === "POST" ? '{"no such key":1}' : undefined,
  });
  return { status, code };
}
