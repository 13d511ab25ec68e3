import { describe, expect, it } from "vitest";
import { AccessState } from "../../ports/access-records.ts";
import type { PersonClaims } from "../../ports/identity.ts";
import { decidePerson, personId, withBarred, withPerson } from "./persons.ts";

const settings = { issuer: "https://id.example.org", client_id: "agentbox" };
const claims: PersonClaims = {
  issuer: settings.issuer,
  subject: "1",
  name: "Ana",
  email: "ana@example.org",
  isEmailVerified: true,
  groups: ["dev"],
};

describe("who may come in", () => {
  it("is everybody the provider knows, unless there is a list", () => {
    expect(decidePerson(settings, claims)).toEqual({ allow: true, isAdmin: false });
    expect(decidePerson({ ...settings, allowed_groups: ["dev"] }, claims).allow).toBe(true);
    expect(decidePerson({ ...settings, allowed_groups: ["Dev"] }, claims).allow).toBe(false);
  });

  it("is nobody of a provider at which everybody has an account, without a list", () => {
    const google = { ...settings, issuer: "https://accounts.google.com" };
    const person = { ...claims, issuer: google.issuer };
    expect(decidePerson(google, person)).toEqual({ allow: false, reason: "open_provider" });
    expect(decidePerson({ ...google, allowed_domains: ["example.org"] }, person).allow).toBe(true);
    for (const [issuer, isOpen] of [
      ["https://gitlab.com", true],
      ["https://gitlab.example.org", false],
      ["https://login.microsoftonline.com/common/v2.0", true],
      ["https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0", true],
      ["https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0", false],
    ] as const)
      expect(decidePerson({ ...settings, issuer }, { ...claims, issuer }).allow, issuer).toBe(!isOpen);
  });

  it("is nobody of another provider", () => {
    expect(decidePerson(settings, { ...claims, issuer: "https://evil.example" }).allow).toBe(false);
  });

  it.each([
    ["the domain", {}, true],
    ["another domain", { email: "ana@example.com" }, false],
    ["a domain that only ends so", { email: "ana@evil-example.org" }, false],
    ["a second @", { email: "ana@example.org@evil.example" }, false],
    ["an address that is not verified", { isEmailVerified: false }, false],
    ["no address", { email: undefined }, false],
  ])("goes by %s", (_, change, isAllowed) => {
    const rules = { ...settings, allowed_domains: ["Example.org"] };
    expect(decidePerson(rules, { ...claims, ...change } as PersonClaims).allow).toBe(isAllowed);
  });

  it("holds for groups and domains together, but for admins", () => {
    const rules = {
      ...settings,
      admin_group: "admins",
      allowed_groups: ["other"],
      allowed_domains: ["example.org"],
    };
    expect(decidePerson(rules, claims).allow).toBe(false);
    expect(decidePerson(rules, { ...claims, groups: ["admins"] })).toEqual({ allow: true, isAdmin: true });
    expect(decidePerson(settings, { ...claims, groups: ["admins"] })).toEqual({
      allow: true,
      isAdmin: false,
    });
  });
});

describe("what is remembered", () => {
  const facts = { isAdmin: true, nowMs: 5, isSignIn: true };

  it("is one record for a person, whatever they are called, and another at another provider", () => {
    const once = withPerson(AccessState.parse({}), claims, facts);
    const again = withPerson(once, { ...claims, name: "Anna" }, { ...facts, isAdmin: false, nowMs: 9 });
    expect(again.people).toMatchObject([{ name: "Anna", isAdmin: false, signedInAtMs: 9 }]);
    const other = withPerson(again, { ...claims, issuer: "https://other.example" }, facts);
    expect(other.people).toHaveLength(2);
    expect(personId({ issuer: "a", subject: "bc" })).not.toBe(personId({ issuer: "ab", subject: "c" }));
  });

  it("is nothing that lets in somebody who is barred, until they come again", () => {
    const id = personId(claims);
    const known = withPerson(AccessState.parse({}), claims, facts);
    const barred = withBarred(known, id);
    expect(barred.people).toMatchObject([{ isBarred: true, isAdmin: false }]);
    expect(withPerson(barred, claims, facts).people[0]).not.toHaveProperty("isBarred");
  });
});
