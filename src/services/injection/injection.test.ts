import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SecretDestination } from "../../contract/secret/binding.ts";
import { isCredentialHeader, sameName } from "./credential-names.ts";
import {
  binding,
  box,
  canary,
  injected,
  lockedVault,
  destination,
  request,
  secretValue,
  setUp,
  tokenOf,
} from "./injection.fixture.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const bearer = binding(destination({ kind: "bearer" }));
const token = tokenOf(bearer);
const identity = ["Accept-Encoding", "identity"];

describe("a bound place", () => {
  const ways: [SecretDestination["as"], string[], string][] = [
    [{ kind: "bearer" }, ["Authorization", `Bearer ${canary}`], "/user?x=%20y"],
    [
      { kind: "basic", username: "x-access-token" },
      ["Authorization", `Basic ${base64(`x-access-token:${canary}`)}`],
      "/user?x=%20y",
    ],
    [{ kind: "header", name: "X-Api-Key", prefix: "" }, ["X-Api-Key", canary], "/user?x=%20y"],
    [
      { kind: "header", name: "Authorization", prefix: "Token " },
      ["Authorization", `Token ${canary}`],
      "/user?x=%20y",
    ],
    [{ kind: "query", name: "apikey" }, [], `/user?x=%20y&apikey=${encodeURIComponent(canary)}`],
  ];
  it.each(ways)("gets the value as %j, with or without a placeholder", async (as, credential, path) => {
    const bound = binding(destination(as));
    const { prepare } = setUp([bound]);
    const sent = tokenOf(bound);
    const offers = [
      [],
      ["Authorization", `Bearer ${sent}`],
      ["authorization", `token ${sent}`],
      ["Authorization", sent],
      ["Authorization", `basic ${base64(`anybody:${sent}`)}`],
      ["Authorization", `Basic ${base64(`${sent}:`)}`],
      ["Authorization", `Basic ${base64(`${sent}:x-oauth-basic`)}`],
      ["x_api_key", sent],
    ];
    for (const offer of offers) {
      const prepared = injected(
        await prepare({ headers: [...offer, "Accept", "*/*"], path: "/user?x=%20y" }),
      );
      expect(prepared).toMatchObject({ secret: "github-token", path, body: undefined });
      expect(prepared.headers).toEqual(["Accept", "*/*", ...identity, ...credential]);
    }
  });

  it("takes the placeholder out of the query only where the value goes there", async () => {
    const bound = binding(destination({ kind: "query", name: "key" }));
    const { prepare } = setUp([bound]);
    const path = `/v1?a=1&key=${tokenOf(bound)}&b=%41`;
    expect(injected(await prepare({ path })).path).toBe(`/v1?a=1&key=${encodeURIComponent(canary)}&b=%41`);
    expect(injected(await prepare({ path: "/v1?" })).path).toBe(`/v1?key=${encodeURIComponent(canary)}`);
    expect(await prepare({ path: `${path}&key=${tokenOf(bound)}` })).toMatchObject({ outcome: "refuse" });
    expect(await prepare({ path: `/v1?Key=${tokenOf(bound)}` })).toMatchObject({
      reason: "secret_misplaced",
    });
    expect(await prepare({ path: "/v1?key=other" })).toMatchObject({ reason: "foreign_credential" });
    const elsewhere = setUp([bearer]);
    expect(await elsewhere.prepare({ path: `/v1?key=${token}` })).toMatchObject({
      reason: "secret_misplaced",
    });
  });

  it("asks for an answer that can be read", async () => {
    const headers = ["accept-encoding", "gzip", "Range", "bytes=0-3", "If-Range", '"x"', "X", "y"];
    const sent = [...headers, "Sec-WebSocket-Extensions", "permessage-deflate"];
    const { prepare } = setUp([bearer]);
    const { headers: plain } = injected(await prepare({ headers: sent }));
    expect(plain.slice(0, 6)).toEqual([
      "X",
      "y",
      "Sec-WebSocket-Extensions",
      "permessage-deflate",
      ...identity,
    ]);
    const upgraded = injected(await prepare({ headers: sent, isUpgrade: true }));
    expect(upgraded.headers.slice(0, 4)).toEqual(["X", "y", ...identity]);
    expect(upgraded.body).toBeDefined();
  });

  it("is one of scheme, host, port, method and path", async () => {
    const narrow = binding(destination({ kind: "bearer" }, { methods: ["GET"], paths: ["/repos/**"] }));
    const { prepare, injection } = setUp([narrow]);
    const path = "/repos/a/b";
    expect(await prepare({ path })).toMatchObject({ outcome: "inject" });
    for (const other of [
      { path: "/user" },
      { path, method: "DELETE" },
      { path, scheme: "http" },
      { path, port: 8443 },
      { path, host: "example.org" },
    ] as const) {
      expect(await prepare(other)).toEqual({ outcome: "pass", body: undefined });
      const headers = ["Authorization", `Bearer ${tokenOf(narrow)}`];
      expect(await prepare({ ...other, headers })).toMatchObject({ reason: "secret_misplaced" });
    }
    expect(injection.manages(box, "api.example.org", 443)).toBe(true);
    expect(injection.manages(box, "api.example.org", 80)).toBe(false);
    expect(injection.manages(box, "example.org", 443)).toBe(false);
    for (const name of ["X-HTTP-Method-Override", "x_original_url"])
      expect(await prepare({ path, headers: [name, "DELETE"] })).toMatchObject({
        reason: "secret_misplaced",
      });
    expect(await setUp([bearer]).prepare({ headers: ["X-HTTP-Method-Override", "DELETE"] })).toMatchObject({
      outcome: "inject",
    });
  });

  it("may be plain http where the binding says so", async () => {
    const { prepare } = setUp([binding(destination({ kind: "bearer" }, { scheme: "http", port: 80 }))]);
    expect(await prepare({ scheme: "http", port: 80 })).toMatchObject({ outcome: "inject" });
    expect(await prepare({ scheme: "https", port: 80 })).toMatchObject({ outcome: "pass" });
  });

  it("is the most exact one, or the one whose placeholder is sent", async () => {
    const wide = binding(
      destination({ kind: "bearer" }, { host: { name: "example.org", isWildcard: true } }),
      {
        name: "wide",
        secret: "wide",
      },
    );
    const { prepare } = setUp([wide, bearer]);
    expect(await prepare()).toMatchObject({ secret: "github-token" });
    expect(await prepare({ host: "cdn.example.org" })).toMatchObject({ secret: "wide" });
    const headers = ["Authorization", `Bearer ${tokenOf(wide)}`];
    expect(await prepare({ headers })).toMatchObject({ outcome: "inject", secret: "wide" });
    const two = setUp([bearer, binding(destination({ kind: "bearer" }), { name: "other", secret: "other" })]);
    expect(await two.prepare()).toMatchObject({ reason: "secret_unusable" });
    expect(await two.prepare({ headers: ["Authorization", `token ${token}`] })).toMatchObject({
      secret: "github-token",
    });
  });
});

describe("a request that is refused", () => {
  const { prepare } = setUp([bearer]);

  it.each([
    ["another token", ["Authorization", "Bearer ghp_attacker"]],
    ["basic", ["authorization", `Basic ${base64("me:mine")}`]],
    ["a cookie", ["Cookie", "session=1"]],
    ["another header", ["X_API_KEY", "k"]],
    ["gitlab's", ["PRIVATE-TOKEN", "k"]],
    ["a protocol of a WebSocket", ["Sec-WebSocket-Protocol", "openai-insecure-api-key.k"]],
  ])("brings a credential of its own: %s", async (_, headers) => {
    expect(await prepare({ headers })).toMatchObject({ reason: "foreign_credential" });
    expect(await prepare({ headers, host: "elsewhere.org" })).toMatchObject({ outcome: "pass" });
  });

  it.each(["?access_token=x", "?a=1&X-Amz-Signature=f", "?a;token=x", "?%74oken=x", "?private-token=x"])(
    "brings a credential of its own in the query: %s",
    async (query) => {
      expect(await prepare({ path: `/x${query}` })).toMatchObject({ reason: "foreign_credential" });
      expect(await prepare({ path: `/x${query}`, host: "elsewhere.org" })).toMatchObject({ outcome: "pass" });
    },
  );

  it("brings two", async () => {
    const one = `Bearer ${token}`;
    for (const headers of [
      ["Authorization", one, "authorization", one],
      ["x-api-key", token, "x_api_key", token],
    ])
      expect(await prepare({ headers })).toMatchObject({ reason: "foreign_credential" });
    const bound = binding(destination({ kind: "query", name: "key" }));
    const own = tokenOf(bound, box);
    expect(await setUp([bound]).prepare({ path: `/x?key=${own}&key=${own}` })).toMatchObject({
      reason: "foreign_credential",
      message: "The request has the parameter key more than once, so a server could take either.",
    });
  });

  it("has a placeholder where it is not replaced", async () => {
    for (const host of ["api.example.org", "elsewhere.org"]) {
      for (const more of [
        { path: `/x/${token}` },
        { path: `/x/${token.replace("a", "%61")}` },
        { path: `/x?q=${token}` },
        { path: `/x?q=${token.replace("agent", "ag%65nt")}` },
        { headers: ["X-Note", `it is ${token}`] },
        { headers: [token, "x"] },
        { headers: ["X-Note", base64(`..${token}..`)] },
        { headers: ["Cookie", `t=${token}`] },
        { headers: ["Authorization", `Digest username=${token}`] },
      ])
        expect(await prepare({ host, ...more })).toMatchObject({
          outcome: "refuse",
          reason: "secret_misplaced",
        });
    }
    const elsewhere = { host: "elsewhere.org", headers: ["Authorization", `Bearer ${token}`] };
    expect(await prepare(elsewhere)).toMatchObject({ reason: "secret_misplaced" });
    const fork = tokenOf(bearer, { name: box.name, incarnation: "another" });
    expect(await prepare({ headers: ["Authorization", `Bearer ${fork}`] })).toMatchObject({
      reason: "foreign_credential",
    });
  });

  it("has a body that cannot be read, to a managed host", async () => {
    const headers = ["Content-Encoding", "zstd"];
    expect(await prepare({ headers, hasBody: true })).toMatchObject({ reason: "secret_misplaced" });
    expect(await prepare({ headers, hasBody: true, host: "elsewhere.org" })).toMatchObject({
      outcome: "pass",
    });
    expect(await prepare({ headers: ["Content-Encoding", "gzip"], hasBody: true })).toMatchObject({
      outcome: "inject",
    });
  });
});

describe("a value that cannot be put in", () => {
  it("is not granted", async () => {
    const { prepare, revealed } = setUp([bearer], { isGranted: false });
    expect(await prepare()).toMatchObject({
      reason: "secret_not_granted",
      secret: "github-token",
      hint: "Run: agentbox vault grant github-token --box blue-fox",
    });
    expect(revealed).toEqual([]);
  });

  it("is not to be had, which says why and never more", async () => {
    const locked = setUp([bearer], { values: { "github-token": lockedVault } });
    expect(await locked.prepare()).toMatchObject({
      reason: "secret_unavailable",
      message: "The vault is locked.",
      hint: "Run: agentbox vault unlock",
    });
    const broken = setUp([bearer], { values: { "github-token": new Error(`failed with ${canary}`) } });
    const refused = await broken.prepare();
    expect(refused).toMatchObject({ reason: "secret_unavailable" });
    expect(JSON.stringify(refused)).not.toContain(canary);
  });

  it.each(["", "a\r\nb", "a\0b", "a\n", " a", "a ", "ä", "a\tb", "\x7fx"])(
    "is nothing that a header holds: %j",
    async (bytes) => {
      const { prepare } = setUp([bearer], { values: { "github-token": secretValue(bytes) } });
      expect(await prepare()).toMatchObject({ reason: "secret_unusable" });
    },
  );

  it("is of another kind", async () => {
    for (const kind of ["aws", "ssh-key"] as const) {
      const { prepare } = setUp([bearer], { values: { "github-token": secretValue("{}", kind) } });
      expect(await prepare()).toMatchObject({ reason: "secret_unusable" });
    }
    const record = secretValue('{"accessToken":"x","refreshToken":"y"}', "oauth");
    expect(await setUp([bearer], { values: { "github-token": record } }).prepare()).toMatchObject({
      reason: "secret_unusable",
    });
    const kept = { values: { "github-token": secretValue("ya29.token", "oauth") } };
    expect(await setUp([bearer], kept).prepare()).toMatchObject({ outcome: "inject" });
  });
});

describe("a box", () => {
  const signal = new AbortController().signal;

  it("without secrets passes in the same turn", () => {
    const { injection } = setUp([]);
    expect(injection.prepare(box, request({ hasBody: true }), signal)).toEqual({
      outcome: "pass",
      body: undefined,
    });
  });

  it("passes in the same turn where nothing of it is concerned, with its body looked at", () => {
    const { injection } = setUp([bearer]);
    const elsewhere = request({ host: "elsewhere.org", hasBody: true });
    const prepared = injection.prepare(box, elsewhere, signal);
    expect(prepared).toMatchObject({ outcome: "pass", body: expect.anything() });
  });

  it("is refused when the decision itself fails", async () => {
    const { injection } = setUp([bearer]);
    const broken = request({ headers: undefined as unknown as string[] });
    expect(await injection.prepare(box, broken, signal)).toMatchObject({ reason: "secret_unavailable" });
  });

  it("has its secrets until it is dropped, and a later one of its name has none", async () => {
    const { injection, prepare } = setUp([bearer]);
    const later = { ...box, incarnation: "incarnation-2" };
    expect(injection.prepare(later, request(), signal)).toEqual({ outcome: "pass", body: undefined });
    expect(injection.manages(later, "api.example.org", 443)).toBe(false);
    expect(await prepare()).toMatchObject({ outcome: "inject" });
    injection.drop(box.name);
    expect(await prepare()).toEqual({ outcome: "pass", body: undefined });
  });

  it("finds placeholders in its variables, the same after a restart and others in a fork", () => {
    const env = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
    const aws = binding(destination({ kind: "aws" }), { name: "cloud", env, prefix: "" });
    const held = binding([], { name: "held", use: { kind: "env", variable: "X" }, env: [] });
    const { injection } = setUp([]);
    const variables = injection.placeholders(box, [bearer, aws, held]);
    expect(variables).toEqual({
      GH_TOKEN: expect.stringMatching(/^ghp_agentbox[0-9a-f]{32}$/),
      AWS_ACCESS_KEY_ID: expect.stringMatching(/^AKIA[A-Z2-7]{16}$/),
      AWS_SECRET_ACCESS_KEY: expect.stringMatching(/^agentbox[0-9a-f]{32}$/),
    });
    expect(setUp([]).injection.placeholders(box, [bearer, aws, held])).toEqual(variables);
    const fork = injection.placeholders({ ...box, incarnation: "fork" }, [bearer]);
    expect(fork["GH_TOKEN"]).not.toBe(variables["GH_TOKEN"]);
  });
});

describe("any list of headers", () => {
  const names = fc.constantFrom(
    "Authorization",
    "authorization",
    "Cookie",
    "X-Api-Key",
    "x_api_key",
    "Accept",
    "X-Note",
    "Content-Type",
  );
  const values = fc.oneof(
    fc.constantFrom(`Bearer ${token}`, token, `Basic ${base64(`x:${token}`)}`, "Bearer other", "text/plain"),
    fc.string({ unit: "grapheme-ascii" }),
  );
  it("is refused, or has exactly one credential and every other header as it was", async () => {
    let injections = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(names, values), { maxLength: 6 }), async (pairs) => {
        const headers = pairs.flat();
        const prepared = await setUp([bearer]).prepare({ headers });
        if (prepared.outcome === "refuse") return;
        injections += 1;
        const result = injected(prepared).headers;
        const own = ["Authorization", `Bearer ${canary}`];
        expect(result.slice(-2)).toEqual(own);
        const isCredential = (name: string, value: string) => isCredentialHeader(sameName(name), value);
        expect(result.slice(0, -4)).toEqual(
          pairs.filter(([name, value]) => !isCredential(name, value)).flat(),
        );
        const sentOwn = pairs.filter(([name, value]) => isCredential(name, value));
        expect(sentOwn.every(([, value]) => /agentbox|Basic/.test(value))).toBe(true);
      }),
      { numRuns: 500 },
    );
    expect(injections).toBeGreaterThan(20);
  });
});
