import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitFor } from "../src/base/wait-for.ts";
import type { SecretBinding } from "../src/contract/secret/binding.ts";
import type { Core } from "../src/core/context.ts";
import { askTrust } from "../src/core/trust/grant-trust.ts";
import { removeBox } from "../src/core/removal/remove-box.ts";
import { addSecret, grantSecret, removeSecret, revokeSecret } from "../src/core/secrets/keep-secrets.ts";
import { injectionListener } from "../src/core/secrets/authorise-use.ts";
import { gateBox } from "../src/core/network/apply-policy.ts";
import { type TestHost, createOn, eventTypes, openTestCore, openTestHost } from "./support/core.ts";

const manifest = (paths: string): string => `version = 1
[secrets.api]
how = "bearer"
hosts = ["api.example.org"]
paths = ["${paths}"]
`;

describe("grants of secrets", () => {
  let host: TestHost;
  let core: Core & AsyncDisposable;

  beforeEach(async () => {
    host = await openTestHost();
    core = await openTestCore(host);
    await addSecret(core, {
      name: "api",
      kind: "text",
      source: { kind: "stored" },
      value: Buffer.from("canary-value").toString("base64"),
    });
  });

  afterEach(async () => {
    await core[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });

  const make = async (name: string, paths = "/v1/**") => {
    const project = { projectDir: host.dir, manifest: { file: "agentbox.toml", text: manifest(paths) } };
    const { digest } = await askTrust(core, project);
    const { box } = await createOn(core, { name, trust: digest, ...project });
    return box;
  };

  const mayUse = async (name: string, binding?: SecretBinding): Promise<boolean> => {
    const box = await core.getBox(name);
    const own = binding ?? box.spec.secrets[0]!;
    if (own.use.kind !== "inject") throw new Error("not an injected one");
    const signal = new AbortController();
    const asked = injectionListener(() => core).authorise(
      gateBox(box),
      own,
      own.use.destinations[0]!,
      signal.signal,
    );
    // No one answers: an open question is left.
    const timer = setInterval(() => core.approvals.list().length > 0 && signal.abort(), 1);
    try {
      return await asked;
    } finally {
      clearInterval(timer);
    }
  };

  it("lets a box use what it was granted, and no other box", async () => {
    await make("one");
    await make("two");
    expect(await mayUse("one")).toBe(false);
    await grantSecret(core, { name: "api", scope: "box", box: "one" });
    expect(await mayUse("one")).toBe(true);
    expect(await mayUse("two")).toBe(false);
  });

  it("is granted to the box that a person orders it for, is shown, and can be taken back from that box", async () => {
    const secrets = { api: { how: "bearer", hosts: ["api.example.org"] } } as const;
    const { box } = await createOn(core, { name: "ordered", flags: { secrets } });
    expect(box.spec.secrets).toMatchObject([{ secret: "api", isOrdered: true }]);
    expect(await mayUse("ordered")).toBe(true);
    const { incarnation } = box;
    expect(await core.secretGrants.list("api")).toMatchObject([
      { secret: "api", scope: { kind: "box", box: "ordered", incarnation } },
    ]);
    await revokeSecret(core, { name: "api", box: "ordered" });
    expect(await mayUse("ordered")).toBe(false);
    expect(await core.secretGrants.list("api")).toEqual([]);
    await removeBox(core, "ordered", { force: true, keep: false });
  });

  it("asks again when the same name asks for another use", async () => {
    await make("one");
    await grantSecret(core, { name: "api", scope: "project", box: "one" });
    await make("same");
    await make("wider", "/**");
    expect(await mayUse("one")).toBe(true);
    expect(await mayUse("same")).toBe(true);
    expect(await mayUse("wider")).toBe(false);
  });

  it("grants an agent the same use wherever its boxes ask for it", async () => {
    const box = await make("one");
    await grantSecret(core, { name: "api", scope: "agent", box: "one", agent: box.spec.agent.name });
    await make("two");
    expect(await mayUse("two")).toBe(true);
    await grantSecret(core, { name: "api", scope: "agent", box: "one", agent: "demo" });
    expect(await revokeSecret(core, { name: "api", agent: box.spec.agent.name })).toEqual({
      revoked: 1,
      holders: [],
    });
    expect(await mayUse("two")).toBe(false);
  });

  it("ends a grant with its time, with its box, with its secret, and when it is taken back", async () => {
    await make("one");
    await grantSecret(core, { name: "api", scope: "box", box: "one", ttlMs: 60_000 });
    expect(await mayUse("one")).toBe(true);
    host.clock.offsetMs += 61_000;
    expect(await mayUse("one")).toBe(false);

    await grantSecret(core, { name: "api", scope: "box", box: "one" });
    await removeBox(core, "one", { force: true });
    await make("one");
    expect(await mayUse("one")).toBe(false);

    await grantSecret(core, { name: "api", scope: "project", box: "one" });
    expect(await mayUse("one")).toBe(true);
    await revokeSecret(core, { name: "api" });
    expect(await mayUse("one")).toBe(false);

    await grantSecret(core, { name: "api", scope: "project", box: "one" });
    await removeSecret(core, "api");
    await addSecret(core, { name: "api", kind: "text", source: { kind: "stored" }, value: "eA==" });
    expect(await mayUse("one")).toBe(false);
  });

  it("asks a person at the first use, and remembers exactly what they agreed to", async () => {
    const box = await make("one");
    const binding = box.spec.secrets[0]!;
    if (binding.use.kind !== "inject") throw new Error("not an injected one");
    const source = injectionListener(() => core);
    const asked = source.authorise(
      gateBox(box),
      binding,
      binding.use.destinations[0]!,
      new AbortController().signal,
    );
    const question = await waitFor("the question", () => core.approvals.list()[0]);
    expect(question).toMatchObject({ box: "one", secret: "api", host: "api.example.org" });
    expect(question.sentence).toContain("https://api.example.org/v1/**");
    await core.approvals.answer(question.id, { answer: "allow", scope: "box" });
    expect(await asked).toBe(true);
    expect(await mayUse("one")).toBe(true);
    expect(await eventTypes(core)).toContain("secret.granted");
    // The rules of the network are another matter, and were not widened.
    expect((await core.getBox("one")).network?.rules.some(({ id }) => id.startsWith("approval:"))).toBe(
      false,
    );
  });

  it("does not take a binding that the box's record does not have", async () => {
    const box = await make("one");
    await grantSecret(core, { name: "api", scope: "box", box: "one" });
    const own = box.spec.secrets[0]!;
    expect(await mayUse("one", own)).toBe(true);
    expect(await mayUse("one", { ...own, isOrdered: true })).toBe(false);
  });

  it("never writes a value into the log", async () => {
    await make("one");
    await grantSecret(core, { name: "api", scope: "box", box: "one" });
    await revokeSecret(core, { name: "api" });
    const events = JSON.stringify(await core.ports.store.listEvents({ limit: 1_000 }));
    expect(events).toContain("secret.added");
    expect(events).not.toContain("canary-value");
    expect(events).not.toContain(Buffer.from("canary-value").toString("base64"));
  });

  it("shows what would be granted, and grants nothing", async () => {
    await make("one");
    const preview = await grantSecret(core, { name: "api", scope: "box", box: "one", isPreview: true });
    expect(preview.map(({ sentence }) => sentence)).toEqual([
      "use the secret api as a bearer token for https://api.example.org/v1/**",
    ]);
    expect(await mayUse("one")).toBe(false);
  });

  it("says that nothing asks for a secret, and that nobody has a grant", async () => {
    await addSecret(core, { name: "other", kind: "text", source: { kind: "stored" }, value: "eA==" });
    await make("one");
    const granted = grantSecret(core, { name: "other", scope: "box", box: "one" });
    await expect(granted).rejects.toMatchObject({ code: "grant.not_found" });
    await expect(revokeSecret(core, { name: "other" })).rejects.toMatchObject({ code: "grant.not_found" });
  });
});
