/** Attacks that were found by trying; each is beside what must go on working. */
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { binding, injected, destination, secretValue, setUp } from "./injection.fixture.ts";

const bearer = binding(destination({ kind: "bearer" }));
const narrow = binding(destination({ kind: "bearer" }, { methods: ["GET"], paths: ["/user", "/user/**"] }));
const basic = binding(destination({ kind: "basic", username: "me" }));

async function through(
  prepared: Awaited<ReturnType<ReturnType<typeof setUp>["prepare"]>>,
  text: string,
  headers: string[] = [],
) {
  const opened = injected(prepared).answer.open(200, ["Content-Type", "application/json", ...headers]);
  const body = opened!.body!;
  const chunks: Buffer[] = [];
  body.on("data", (chunk: Buffer) => chunks.push(chunk));
  body.end(text);
  await once(body, "end");
  return Buffer.concat(chunks).toString("latin1");
}

describe("an echo in two encodings at once", () => {
  // Its base64 has a "/" and a "+" in it.
  const value = "tok~~~???>>>~?~?~?~>";
  it.each([
    ["PHP's JSON", (text: string) => text.replaceAll("/", "\\/")],
    ["a URL", (text: string) => encodeURIComponent(text)],
    [
      "a URL in small letters",
      (text: string) => encodeURIComponent(text).replaceAll(/%../g, (x) => x.toLowerCase()),
    ],
    ["HTML of numbers", (text: string) => text.replaceAll(/[/+=]/g, (c) => `&#${c.charCodeAt(0)};`)],
    ["JSON of Go's kind", (text: string) => text.replaceAll("+", "\\u002b")],
  ])("basic authentication in %s", async (_, encode) => {
    const { prepare } = setUp([basic], { values: { "github-token": secretValue(value) } });
    const encoded = Buffer.from(`me:${value}`).toString("base64");
    expect(encoded).toMatch(/[/]/);
    const echoed = encode(encoded);
    const answer = await through(await prepare(), `{"auth":"Basic ${echoed}","x":1}`);
    expect(answer).not.toContain(echoed.slice(4, -4));
    expect(answer).toContain('"x":1');
  });
});

describe("a credential of the box's own", () => {
  it.each([
    "accessToken",
    "authToken",
    "apiToken",
    "privateToken",
    "access%5Ftoken",
    "api.key",
    "key[]",
    "%20key",
    "jwt",
    "id_token",
    "secret",
    "clientSecret",
    "refresh_token",
    "feed_token",
    "rss_token",
    "personal_access_token",
  ])("in the parameter %s", async (name) => {
    const { prepare } = setUp([bearer]);
    expect(await prepare({ path: `/user?${name}=evil` })).toMatchObject({
      outcome: "refuse",
      reason: "foreign_credential",
    });
  });
  it.each([
    "X-Algolia-API-Key",
    "X-Acme-Access-Token",
    "X-Forwarded-Authorization",
    "X-Original-Authorization",
    "X-Api-Secret",
    "X-Postmark-Server-Token",
    "X-Secret-Key",
    "X-Session-Token",
    "Access-Token",
    "Token",
    "Auth-Token",
    "X-Auth",
    "X-Password",
    "X-Parse-REST-API-Key",
    "JWT",
    "X-JWT-Assertion",
    "X-Remote-User",
    "X-Forwarded-User",
    "X-GitLab-Static-Object-Token",
  ])("in the header %s", async (name) => {
    const { prepare } = setUp([bearer]);
    expect(await prepare({ headers: [name, "evil"] })).toMatchObject({
      outcome: "refuse",
      reason: "foreign_credential",
    });
  });
  it.each([
    "Idempotency-Key",
    "X-CSRF-Token",
    "Sec-WebSocket-Key",
    "X-Goog-AuthUser",
    "npm-auth-type",
    "Author",
    "X-Ms-Continuation",
    "X-Amz-Meta-Author",
    "If-None-Match",
    "X-Authored-By",
    "X-Request-Id",
    "Surrogate-Key",
  ])("is not in the header %s", async (name) => {
    const { prepare } = setUp([bearer]);
    expect(await prepare({ headers: [name, "v"] })).toMatchObject({ outcome: "inject" });
  });
  it.each([
    "page_token",
    "pageToken",
    "next_page_token",
    "keyword",
    "sort_key",
    "author",
    "signature_version",
    "monkey",
    "continuation-token",
    "fields",
    "per_page",
    "keys",
  ])("is not in the parameter %s", async (name) => {
    const { prepare } = setUp([bearer]);
    expect(await prepare({ path: `/user?${name}=v` })).toMatchObject({ outcome: "inject" });
  });
});

describe("another method than the one that was agreed to", () => {
  it.each([
    "/user?_method=DELETE",
    "/user?x=1&%5Fmethod=DELETE",
    "/user?X-HTTP-Method-Override=DELETE",
    "/user?_METHOD=PUT",
  ])("by %s", async (path) => {
    const { prepare } = setUp([narrow]);
    expect(await prepare({ path })).toMatchObject({ outcome: "refuse" });
    expect(await prepare({ path: "/user?method=x" })).toMatchObject({ outcome: "inject" });
  });
  it.each([
    "X-Original-URI",
    "X-Forwarded-Uri",
    "X-Forwarded-Path",
    "X-Forwarded-Method",
    "X-Forwarded-Prefix",
    "X-Envoy-Original-Path",
    "X-Original-Method",
    "X-Original-Host",
    "X-Forwarded-Host",
    "X_HTTP_METHOD_OVERRIDE",
  ])("by the header %s", async (name) => {
    const { prepare } = setUp([narrow]);
    expect(await prepare({ headers: [name, "/admin"] })).toMatchObject({ outcome: "refuse" });
  });
});

describe("a path with two readings", () => {
  it.each(["/a/user;x.png", "/a/user%3Fx.png", "/a/%E2%80%A5/b.png"])(
    "%s is no bound path where one reading is not bound",
    async (path) => {
      const pictures = binding(destination({ kind: "bearer" }, { paths: ["/**/*.png"] }));
      const { prepare } = setUp([pictures]);
      expect(await prepare({ path: "/a/b.png" })).toMatchObject({ outcome: "inject" });
      expect(await prepare({ path })).toMatchObject({ outcome: "refuse", reason: "secret_misplaced" });
    },
  );

  it.each(["/user%2fkeys", "/user/%2e%2e/admin", "/repos/../user", "//user"])(
    "%s is refused and not sent without the secret",
    async (path) => {
      const { prepare } = setUp([narrow]);
      expect(await prepare({ path })).toMatchObject({ outcome: "refuse", reason: "secret_misplaced" });
      // Where the method or the scheme is another one, the secret was never meant.
      expect(await prepare({ path, method: "DELETE" })).toMatchObject({ outcome: "pass" });
      expect(await prepare({ path: "/other" })).toMatchObject({ outcome: "pass" });
    },
  );

  it("is accepted where every path is bound", async () => {
    expect(await setUp([bearer]).prepare({ path: "/@acme%2fpackage" })).toMatchObject({ outcome: "inject" });
  });
});
