import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../host/clock.ts";
import { Browser } from "../connections/browser.fixture.ts";
import { openIdentity } from "./index.ts";
import { personFrom } from "./claims.ts";
import { TeamProvider, claimsOf, signed, tampered, teamClientSecret, unsigned } from "./provider.fixture.ts";

const redirectUri = "http://127.0.0.1:4999/auth/callback";
const ana = { name: "Ana", email: "Ana@example.org", email_verified: true, groups: ["admins", "dev"] };

let provider: TeamProvider;
let aheadMs = 0;
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
const open = () => openIdentity({ clientSecret: async () => teamClientSecret, clock });

beforeAll(async () => {
  provider = await TeamProvider.open(
    ["http://127.0.0.1/auth/callback"],
    "http://127.0.0.1:4999/auth/logout-notice",
  );
});
afterAll(() => provider[Symbol.asyncDispose]());
beforeEach(() => {
  provider.members.set("ana", ana);
});
afterEach(() => {
  provider.onTokenAnswer = (answer) => answer;
  provider.onDiscovery = (document) => document;
  provider.fault = undefined;
  aheadMs = 0;
});

type Change = (answer: Record<string, string>) => Record<string, string>;

async function signIn(change: Change = (answer) => answer, identity = open()) {
  const { url, checks } = await identity.begin(provider.settings(), redirectUri);
  const callback = await new Browser("ana").agreeUntilCallback(url);
  const answer = change(Object.fromEntries(callback.searchParams));
  return identity.finish(provider.settings(), checks, answer);
}

const refused = { code: "sign_in.refused" };

describe("a sign-in", () => {
  it("says who somebody is, with PKCE, state and nonce", async () => {
    const { url } = await open().begin(provider.settings({ scopes: ["more"] }), redirectUri);
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: redirectUri,
    });
    expect(asked["scope"]).toBe("openid profile email offline_access more");
    for (const name of ["state", "nonce", "code_challenge"]) expect(asked[name]!.length).toBeGreaterThan(40);

    expect(await signIn()).toEqual({
      claims: {
        issuer: provider.issuer,
        subject: "ana",
        name: "Ana",
        email: "ana@example.org",
        isEmailVerified: true,
        groups: ["admins", "dev"],
      },
      sid: expect.any(String),
      refreshToken: expect.any(String),
    });
  });

  it("cannot be told other parameters than its own", async () => {
    const parameters = { state: "mine", redirect_uri: "https://evil.example", prompt: "login" };
    const { url, checks } = await open().begin(provider.settings({ parameters }), redirectUri);
    const asked = Object.fromEntries(new URL(url).searchParams);
    expect(asked).toMatchObject({ state: checks.state, redirect_uri: redirectUri, prompt: "login" });
  });

  it.each<[string, Change]>([
    ["another state", (answer) => ({ ...answer, state: "another" })],
    ["another issuer (mix-up)", (answer) => ({ ...answer, iss: "https://evil.example" })],
    ["no issuer, where the provider always names itself", ({ iss: _iss, ...answer }) => answer],
    ["another code", (answer) => ({ ...answer, code: "another" })],
    ["no code", ({ code: _code, ...answer }) => answer],
    ["the provider's no", ({ state, iss }) => ({ state: state!, iss: iss!, error: "access_denied" })],
  ])("is refused with %s", async (_, change) => {
    await expect(signIn(change)).rejects.toMatchObject(refused);
  });

  it("takes a code once", async () => {
    const identity = open();
    const { url, checks } = await identity.begin(provider.settings(), redirectUri);
    const callback = await new Browser("ana").agreeUntilCallback(url);
    const answer = Object.fromEntries(callback.searchParams);
    expect((await identity.finish(provider.settings(), checks, answer)).claims.subject).toBe("ana");
    await expect(identity.finish(provider.settings(), checks, answer)).rejects.toMatchObject(refused);
  });
});

describe("an id token", () => {
  const answerWith = (make: (token: string) => string) => {
    provider.onTokenAnswer = (answer) => ({ ...answer, id_token: make(String(answer["id_token"])) });
  };
  const changed = (change: Record<string, unknown>) =>
    answerWith((token) => signed({ ...claimsOf(token), ...change }));

  it("is taken when nothing is wrong with it", async () => {
    changed({});
    expect((await signIn()).claims.subject).toBe("ana");
  });

  it.each([
    ["for another client", { aud: "another" }],
    ["from another issuer", { iss: "https://accounts.example" }],
    ["with another nonce", { nonce: "another" }],
    ["without a nonce", { nonce: undefined }],
    ["that has ended", { iat: 1_600_000_000, exp: 1_600_003_600 }],
    ["about somebody else than the user info", { sub: "bob" }],
  ])("is refused %s", async (_, change) => {
    changed(change);
    await expect(signIn()).rejects.toMatchObject(refused);
  });

  it("is refused when a stranger signed it, when it was changed, and when nobody signed it", async () => {
    answerWith((token) => signed(claimsOf(token), "stranger"));
    await expect(signIn()).rejects.toMatchObject(refused);
    answerWith((token) => tampered(token, { groups: ["admins"] }));
    await expect(signIn()).rejects.toMatchObject(refused);
    answerWith((token) => unsigned(claimsOf(token)));
    await expect(signIn()).rejects.toMatchObject(refused);
    provider.onTokenAnswer = ({ id_token: _token, ...answer }) => answer;
    await expect(signIn()).rejects.toMatchObject(refused);
  });
});

describe("a provider that is away", () => {
  it("is an error of the request, and is asked again the next time", async () => {
    const identity = open();
    provider.fault = 503;
    await expect(identity.begin(provider.settings(), redirectUri)).rejects.toMatchObject({
      code: "sign_in.unavailable",
    });
    provider.fault = undefined;
    expect((await signIn((answer) => answer, identity)).claims.name).toBe("Ana");
  });

  it("is not one that calls itself something else, or that has no TLS", async () => {
    provider.onDiscovery = (document) => ({ ...document, issuer: "https://evil.example" });
    await expect(open().begin(provider.settings(), redirectUri)).rejects.toMatchObject(refused);
    provider.onDiscovery = (document) => ({ ...document, authorization_endpoint: "http://evil.example/" });
    await expect(open().begin(provider.settings(), redirectUri)).rejects.toMatchObject({
      code: "sign_in.unavailable",
    });
    const settings = provider.settings({ issuer: "http://accounts.example" });
    await expect(open().begin(settings, redirectUri)).rejects.toMatchObject({ code: "sign_in.unavailable" });
  });
});

describe("asking again", () => {
  it("tells what is new, what has ended, and what nobody knows", async () => {
    const identity = open();
    const { refreshToken } = await signIn((answer) => answer, identity);
    provider.members.set("ana", { ...ana, groups: ["dev"] });
    const again = await identity.recheck(provider.settings(), {
      subject: "ana",
      refreshToken: refreshToken!,
    });
    expect(again).toMatchObject({ outcome: "confirmed", claims: { subject: "ana", groups: ["dev"] } });
    const next = (again as { refreshToken: string }).refreshToken;

    provider.fault = 503;
    const away = await identity.recheck(provider.settings(), { subject: "ana", refreshToken: next });
    expect(away).toMatchObject({ outcome: "unknown" });
    provider.fault = undefined;
    expect(
      await identity.recheck(provider.settings(), { subject: "bob", refreshToken: next }),
      "about somebody else",
    ).toMatchObject({ outcome: "ended" });
  });

  it("is about the same person, also where only the id token says who it is", async () => {
    provider.onDiscovery = ({ userinfo_endpoint: _endpoint, ...document }) => document;
    const identity = open();
    const { refreshToken } = await signIn((answer) => answer, identity);
    const again = await identity.recheck(provider.settings(), {
      subject: "ana",
      refreshToken: refreshToken!,
    });
    expect(again).toMatchObject({ outcome: "confirmed" });
    const next = (again as { refreshToken: string }).refreshToken;
    expect(await identity.recheck(provider.settings(), { subject: "bob", refreshToken: next })).toMatchObject(
      {
        outcome: "ended",
      },
    );
  });

  it("ends with an account that is gone", async () => {
    const identity = open();
    const { refreshToken } = await signIn((answer) => answer, identity);
    provider.members.delete("ana");
    expect(
      await identity.recheck(provider.settings(), { subject: "ana", refreshToken: refreshToken! }),
    ).toMatchObject({ outcome: "ended" });
  });
});

describe("a logout notice", () => {
  const read = (token: string, identity = open()) => identity.readLogoutNotice(provider.settings(), token);
  const about = (change: Record<string, unknown>) => (claims: Record<string, unknown>) => ({
    ...claims,
    sub: "ana",
    ...change,
  });

  it("names a person or a session", async () => {
    expect(await read(provider.logoutToken(about({})))).toEqual({ issuer: provider.issuer, subject: "ana" });
    expect(
      await read(provider.logoutToken(about({ sub: undefined, sid: "s1", aud: ["other", "agentbox-team"] }))),
    ).toEqual({ issuer: provider.issuer, sid: "s1" });
  });

  it("is taken once", async () => {
    const identity = open();
    const token = provider.logoutToken(about({}));
    await read(token, identity);
    await expect(read(token, identity)).rejects.toMatchObject(refused);
  });

  it.each<[string, Record<string, unknown>]>([
    ["for another client", { aud: "another" }],
    ["from another issuer", { iss: "https://evil.example" }],
    ["with a nonce, as an id token has", { nonce: "n" }],
    ["without the event", { events: undefined }],
    ["with another event", { events: { "http://schemas.openid.net/event/other": {} } }],
    ["about nobody", { sub: undefined }],
    ["without a name of its own", { jti: undefined }],
    ["without a time", { iat: undefined }],
    ["from long ago", { iat: 1_600_000_000, exp: undefined }],
    ["that has ended", { exp: 1_600_000_000 }],
    ["from the future", { iat: 4_000_000_000, exp: 4_000_000_100 }],
  ])("is refused %s", async (_, change) => {
    await expect(read(provider.logoutToken(about(change)))).rejects.toMatchObject(refused);
  });

  it("is refused when a stranger signed it, when it was changed, when nobody signed it, and when it is no token", async () => {
    const token = provider.logoutToken(about({}));
    for (const forged of [
      provider.logoutToken(about({}), "stranger"),
      tampered(token, { sub: "bob" }),
      unsigned(claimsOf(token)),
      "a.b.c",
      "",
    ])
      await expect(read(forged), forged).rejects.toMatchObject(refused);
    const other = signed(claimsOf(token), "provider", { typ: "at+jwt" });
    await expect(read(other)).rejects.toMatchObject(refused);
  });
});

describe("what is kept of a person", () => {
  const settings = { issuer: "https://id.example", client_id: "x" };
  it("is readable, bounded, and never more than the provider vouches for", () => {
    const person = personFrom(settings, "1", {
      name: "A\u202eb\nc",
      email: "A@Example.org",
      groups: ["a", 1, "x".repeat(300)],
    });
    expect(person.name).not.toMatch(/[\u202e\n]/);
    expect(person).toMatchObject({ email: "a@example.org", isEmailVerified: false, groups: ["a"] });
    expect(personFrom(settings, "1", { email: "not one" })).not.toHaveProperty("email");
    expect(personFrom(settings, "1", {}).name).toBe("1");
  });

  it("takes an address for a group only if it is verified", () => {
    const byEmail = { ...settings, groups_claim: "email" };
    const told = { email: "a@example.org" };
    expect(personFrom(byEmail, "1", told).groups).toEqual([]);
    expect(personFrom(byEmail, "1", { ...told, email_verified: true }).groups).toEqual(["a@example.org"]);
  });

  it("asks Google whose domain it is", () => {
    const google = { ...settings, issuer: "https://accounts.google.com" };
    const told = { email: "a@example.org", email_verified: true };
    expect(personFrom(google, "1", told).isEmailVerified).toBe(false);
    expect(personFrom(google, "1", { ...told, hd: "example.org" }).isEmailVerified).toBe(true);
  });
});
