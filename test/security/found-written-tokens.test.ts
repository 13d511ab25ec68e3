/**
 * Found by trying: the tokens of a sign-in name where they are renewed, and which other secret of the vault is sent
 * there. A token for `secrets` wrote such tokens, and the daemon sent it a secret that was never bound.
 */
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Scope } from "../../src/contract/access/scope-names.ts";
import { requireAuthority } from "../../src/core/access/authority.ts";
import { type Caller, socketOwner } from "../../src/core/access/caller.ts";
import type { Core } from "../../src/core/context.ts";
import { revealSecret } from "../../src/core/secrets/reveal.ts";
import { tokenKeeper } from "../../src/core/secrets/token-keeper.ts";
import { vaultHandlers } from "../../src/daemon/handlers/vault-handlers.ts";
import { systemClock, systemIds } from "../../src/host/clock.ts";
import { silentLogger } from "../../src/host/logger.ts";
import { openConnections } from "../../src/services/connections/index.ts";
import { type TestHost, eventTypes, openTestCore, openTestHost } from "../support/core.ts";
import { makeCanary } from "../support/vault-ground.ts";

const inBase64 = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");

describe("tokens of a sign-in that somebody writes", () => {
  let host: TestHost;
  let core: Core & AsyncDisposable;
  const got: string[] = [];
  const thief = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => got.push(chunk.toString()));
    request.on("end", () => response.writeHead(400).end());
  });
  const canary = makeCanary();

  beforeEach(async () => {
    got.length = 0;
    host = await openTestHost();
    const connections = openConnections({
      keeper: tokenKeeper(() => core),
      clock: systemClock,
      logger: silentLogger,
      ids: systemIds,
    });
    core = await openTestCore(host, { connections });
    await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve));
    await as(socketOwner, "addSecret", { name: "bank", kind: "text", value: inBase64(canary) });
    await as(socketOwner, "addSecret", { name: "login/claude", kind: "oauth", value: inBase64(own) });
  });
  afterEach(async () => {
    await new Promise((resolve) => thief.close(resolve));
    await core[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });

  const own = { tokenEndpoint: "https://example.org", clientId: "own", scopes: [], accessToken: "own" };
  const planted = () => ({
    ...own,
    tokenEndpoint: `http://127.0.0.1:${(thief.address() as AddressInfo).port}/`,
    clientSecret: "bank",
    refreshToken: "planted",
    expiresAtMs: 1,
  });
  const token = (...scopes: Scope[]): Caller => ({
    principal: { kind: "token", id: "t", name: "t", of: { kind: "owner" }, scopes },
    credential: { kind: "token", id: "t" },
  });
  const session: Caller = { principal: { kind: "owner" }, credential: { kind: "session", id: "s" } };

  /** As the daemon does it for a request. */
  const as = async (caller: Caller, name: "addSecret" | "rotateSecret", more: object): Promise<unknown> => {
    const body = { source: { kind: "stored" }, graceMs: 0, ...more };
    requireAuthority(core, caller, name, body);
    return vaultHandlers[name]({ deps: { core }, body, access: caller } as never);
  };
  /** The gate's part when a box uses it; the secret that is sent to the thief. */
  const use = async (secret: string): Promise<string | null> => {
    await revealSecret(core, secret).catch(() => undefined);
    return new URLSearchParams(got.join("")).get("client_secret");
  };

  const writes = [
    ["addSecret", () => ({ name: "new", kind: "oauth", value: inBase64(planted()) }), "new"],
    ["rotateSecret", () => ({ name: "login/claude", value: inBase64(planted()) }), "login/claude"],
  ] as const;

  it.each(writes)(
    "%s sends no other secret of the vault to whoever has a token",
    async (name, body, used) => {
      for (const caller of [token("secrets"), token("secrets", "work", "trust"), session]) {
        await expect(as(caller, name, body())).rejects.toMatchObject({ code: "access.forbidden" });
        expect(await use(used)).toBeNull();
      }
      expect(await eventTypes(core)).toContain("access.refused");
    },
  );

  it.each(writes)("%s does what the owner orders at the socket", async (name, body, used) => {
    await as(socketOwner, name, body());
    expect(await use(used)).toBe(canary);
  });

  it("other secrets are added and replaced as before", async () => {
    await as(token("secrets"), "addSecret", { name: "text", kind: "text", value: inBase64("a") });
    await as(token("secrets"), "rotateSecret", { name: "text", value: inBase64("b") });
    expect((await revealSecret(core, "text")).bytes.toString()).toBe("b");
  });
});
