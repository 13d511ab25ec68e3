/** Found by trying: one yes of a person must not be used twice. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { SshDestination } from "../../src/contract/secret/binding.ts";
import type { Core } from "../../src/core/context.ts";
import { askTrust } from "../../src/core/trust/grant-trust.ts";
import { gateBox } from "../../src/core/network/apply-policy.ts";
import { addSecret, grantSecret } from "../../src/core/secrets/keep-secrets.ts";
import { sshKeysListener } from "../../src/core/secrets/authorise-use.ts";
import { type TestHost, createOn, openTestCore, openTestHost } from "../support/core.ts";

const manifest = (confirm: boolean): string => `version = 1
[secrets.deploy]
how = "ssh"
hosts = ["git@git.example.org"]
confirm = ${confirm}
`;
const destination: SshDestination = { host: "git.example.org", port: 22, user: "git" };

describe("a key that a person agrees to each time", () => {
  let host: TestHost;
  let core: Core & AsyncDisposable;

  beforeEach(async () => {
    host = await openTestHost();
    core = await openTestCore(host);
    await addSecret(core, {
      name: "deploy",
      kind: "text",
      source: { kind: "stored" },
      value: Buffer.from("not a key, and nobody reads it here").toString("base64"),
    });
  });

  afterEach(async () => {
    await core[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });

  /** Two programs ask at the same time: the one that the person is thinking of, and another. */
  async function askTwice(confirm: boolean) {
    const project = { projectDir: host.dir, manifest: { file: "agentbox.toml", text: manifest(confirm) } };
    const { digest } = await askTrust(core, project);
    const { box } = await createOn(core, { name: "shop", trust: digest, ...project });
    await grantSecret(core, { name: "deploy", scope: "box", box: "shop" });
    const signal = new AbortController();
    const ask = () =>
      sshKeysListener(() => core).authorise(gateBox(box), box.spec.secrets[0]!, destination, signal.signal);
    return { signal, asked: [ask(), ask()] as const };
  }

  it("is used once for one yes, however many ask", async () => {
    const { signal, asked } = await askTwice(true);
    await waitFor("two questions", () => core.approvals.list().length === 2, 2_000);
    const [question] = core.approvals.list();
    expect(question!.sentence).toBe(
      "Let the box shop sign in to git@git.example.org:22 with the key deploy, once.",
    );
    await core.approvals.answer(question!.id, { answer: "allow", scope: "once" });
    expect(await Promise.race(asked)).toBe(true);
    expect(core.approvals.list()).toHaveLength(1);
    signal.abort();
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
  });

  it("is asked about again, whatever scope the yes had", async () => {
    const { signal, asked } = await askTwice(true);
    await waitFor("two questions", () => core.approvals.list().length === 2, 2_000);
    for (const { id } of core.approvals.list())
      await core.approvals.answer(id, { answer: "allow", scope: "box" });
    expect(await Promise.all(asked)).toEqual([true, true]);
    const grants = await core.secretGrants.list("deploy");
    expect(grants).toHaveLength(1);
    signal.abort();
  });

  it("signs without a question where nobody asked for one", async () => {
    const { asked } = await askTwice(false);
    expect(await Promise.all(asked)).toEqual([true, true]);
  });
});
