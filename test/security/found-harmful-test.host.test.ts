/** Found by trying: a manifest chooses what `vault test` sends, so it could choose what deletes something. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Core } from "../../src/core/context.ts";
import { askTrust } from "../../src/core/trust/grant-trust.ts";
import { addSecret, grantSecret } from "../../src/core/secrets/keep-secrets.ts";
import { testSecret } from "../../src/core/secrets/test-secret.ts";
import { type TestHost, createOn, openTestCore, openTestHost } from "../support/core.ts";

const manifest = (methods: string): string => `version = 1
[secrets.api]
how = "bearer"
hosts = ["api.example.org"]
methods = ${methods}
paths = ["/repos/me/everything"]
`;

describe("trying out a secret", () => {
  let host: TestHost;
  let core: Core & AsyncDisposable;

  beforeEach(async () => {
    host = await openTestHost();
    core = await openTestCore(host);
  });

  afterEach(async () => {
    await core[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });

  const tryOut = async (methods: string) => {
    const project = { projectDir: host.dir, manifest: { file: "agentbox.toml", text: manifest(methods) } };
    const { digest } = await askTrust(core, project);
    await createOn(core, { name: "shop", trust: digest, ...project });
    await addSecret(core, { name: "api", kind: "text", source: { kind: "stored" }, value: "eA==" });
    await grantSecret(core, { name: "api", scope: "box", box: "shop" });
    return testSecret(core, "shop", { name: "api" });
  };

  it("sends nothing where only methods are bound that change something", async () => {
    expect(await tryOut('["DELETE", "POST"]')).toEqual([
      {
        url: "https://api.example.org:443/repos/me/everything",
        method: "DELETE",
        isInjected: false,
        sentence: "Nothing was sent: api is bound only to methods that change something (DELETE, POST).",
      },
    ]);
  });

  it("sends the one that only looks, where there is one", async () => {
    expect(await tryOut('["DELETE", "HEAD"]')).toMatchObject([
      { method: "HEAD", sentence: expect.stringContaining("gate") as unknown },
    ]);
  });
});
