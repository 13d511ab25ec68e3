import type { IncomingMessage } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAgentBoxError } from "../base/errors.ts";
import type { Access } from "../core/access/access.ts";
import type { Caller } from "../core/access/caller.ts";
import { enter, type EntryKind, type ListenerKind } from "./door.ts";

const origin = "http://127.0.0.1:7420";
const listener: ListenerKind = {
  kind: "web",
  addresses: () => ({ hosts: new Set(["127.0.0.1:7420"]), origins: new Set([origin]) }),
};
const caller: Caller = { principal: { kind: "owner" }, credential: { kind: "session", id: "s" } };

/** Lets in exactly one session and one token. */
const access = {
  refused: () => undefined,
  identifySession: ({ cookies, key }: { cookies: readonly string[]; key: string }) => {
    if (cookies.includes("cookie") && key === "key") return caller;
    throw new RangeError("nobody");
  },
  identifyToken: (value: string) => {
    if (value === "abt_token") return caller;
    throw new RangeError("nobody");
  },
} as unknown as Access;

function requestOf(
  headers: Readonly<Record<string, string>>,
  { url = "/v1/me", method = "GET" }: { url?: string; method?: string } = {},
): IncomingMessage {
  const rawHeaders = Object.entries(headers).flat();
  return { url, method, headers, rawHeaders } as unknown as IncomingMessage;
}

const isIn = (
  request: IncomingMessage,
  kind: EntryKind = "request",
  by: ListenerKind = listener,
): boolean => {
  try {
    return enter(access, by, request, kind).caller !== undefined;
  } catch {
    return false;
  }
};

const host = { host: "127.0.0.1:7420" };
const session = { ...host, cookie: "a=b; agentbox-session=cookie", "agentbox-key": "key" };
const socket = {
  ...host,
  origin,
  cookie: "agentbox-session=cookie",
  "sec-websocket-protocol": "agentbox, key.key",
};

describe("the door", () => {
  it("lets in a session with both halves, and a token", () => {
    expect(isIn(requestOf(session))).toBe(true);
    expect(isIn(requestOf({ ...session, origin }))).toBe(true);
    expect(isIn(requestOf({ ...host, authorization: "Bearer abt_token" }))).toBe(true);
    expect(isIn(requestOf(socket), "upgrade")).toBe(true);
    expect(isIn(requestOf({ ...host, authorization: "Bearer abt_token" }), "upgrade")).toBe(true);
  });

  it("lets in nothing that lacks a part", () => {
    const without = (all: Readonly<Record<string, string>>, name: string) =>
      Object.fromEntries(Object.entries(all).filter(([key]) => key !== name));
    for (const name of Object.keys(session))
      expect(isIn(requestOf(without(session, name))), name).toBe(false);
    for (const name of Object.keys(socket))
      expect(isIn(requestOf(without(socket, name)), "upgrade"), name).toBe(false);
    // The key of a page does not come as a header of a WebSocket, nor as a protocol of a request.
    expect(isIn(requestOf({ ...session, origin }), "upgrade")).toBe(false);
    expect(isIn(requestOf(socket))).toBe(false);
  });

  it("is the same for every path that is not the page's", () => {
    for (const url of ["/v1", "/v1/", "/v1/nothing", "/metrics", "/livez/x", "/openapi.json"])
      expect(() => enter(access, listener, requestOf(host, { url }), "request")).toThrow(
        expect.objectContaining({ code: "access.unauthenticated" }),
      );
    for (const url of ["/", "/box/shop", "/V1/me", "/main-ABCDEFGH.js"])
      expect(enter(access, listener, requestOf(host, { url }), "request").caller).toBeUndefined();
    // A WebSocket is never the page's.
    expect(isIn(requestOf({ ...host, origin }, { url: "/" }), "upgrade")).toBe(false);
  });

  it("takes a change of a session as JSON only", () => {
    for (const method of ["POST", "DELETE"]) {
      expect(isIn(requestOf(session, { method }))).toBe(false);
      expect(isIn(requestOf({ ...session, "content-type": "text/plain" }, { method }))).toBe(false);
      expect(
        isIn(requestOf({ ...session, "content-type": "Application/JSON; charset=utf-8" }, { method })),
      ).toBe(true);
    }
  });

  it("lets no page in at the socket", () => {
    expect(isIn(requestOf({}), "request", { kind: "socket" })).toBe(true);
    for (const kind of ["request", "upgrade"] as const)
      expect(isIn(requestOf({ origin }), kind, { kind: "socket" })).toBe(false);
  });

  it("lets in no other Host, Origin or target, and always says why in a code", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.webUrl(), fc.domain());
    fc.assert(
      fc.property(text, text, text, (first, second, target) => {
        for (const [headers, url] of [
          [{ ...session, host: first }, "/v1/me"],
          [{ ...session, origin: second }, "/v1/me"],
          [session, target.startsWith("/") && !target.startsWith("//") ? "//x" : target],
        ] as const) {
          if (headers.host === host.host && "origin" in headers && headers.origin === origin) continue;
          try {
            enter(access, listener, requestOf(headers, { url }), "request");
            expect.unreachable(JSON.stringify({ headers, url }));
          } catch (error) {
            expect(isAgentBoxError(error)).toBe(true);
          }
        }
      }),
    );
  });
});
