import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Box } from "../src/contract/box.ts";
import type { Core } from "../src/core/context.ts";
import { openCredential } from "../src/core/review/push-credential.ts";
import { parsePushTarget } from "../src/core/review/push-target.ts";
import { addSecret } from "../src/core/secrets/keep-secrets.ts";
import { type TestHost, createOn, openTestCore, openTestHost } from "./support/core.ts";

/** The project's config says where a push goes, and a box that works in the project itself can write that file. */
describe("a secret that was typed for a push", () => {
  let host: TestHost;
  let core: Core & AsyncDisposable;
  let box: Box;

  beforeEach(async () => {
    host = await openTestHost();
    core = await openTestCore(host);
    const value = Buffer.from("canary").toString("base64");
    await addSecret(core, { name: "work", kind: "text", source: { kind: "stored" }, value });
    ({ box } = await createOn(core, { name: "shop", flags: { workspace: { mode: "empty" } } }));
  });

  afterEach(async () => {
    await core[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });

  const open = (settings: Parameters<typeof parsePushTarget>[2]) => {
    const target = parsePushTarget("origin", "https://code.example/shop/app.git", settings);
    return openCredential(core, box, target, { settings, secret: "work" });
  };

  it("goes to a host that the person has named", async () => {
    expect(await open({ hosts: ["code.example"] })).toMatchObject({ secret: "work", password: "canary" });
    expect(await open({ gitea: ["code.example"] })).toMatchObject({ secret: "work" });
  });

  it("goes to no host that only the project's config names", async () => {
    await expect(open({})).rejects.toMatchObject({ code: "push.refused" });
    await expect(open({ hosts: ["other.example"] })).rejects.toMatchObject({ code: "push.refused" });
  });
});
