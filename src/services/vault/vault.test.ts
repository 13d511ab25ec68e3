import { describe, expect, it } from "vitest";
import type { SecretKind } from "../../contract/secret/secret.ts";
import { maxSecretBytes } from "../../contract/secret/secret.ts";
import { openTestVault } from "./vault.fixture.ts";

const stored = { kind: "stored" } as const;
const canary = "canary-value-4711";

describe("a vault", () => {
  it("writes nothing before it has something, and is an open one without secrets until then", async () => {
    await using test = await openTestVault();
    expect(await test.vault.status()).toEqual({ master: "keyfile", isLocked: false, secrets: 0 });
    expect(await test.vault.list()).toEqual([]);
    await expect(test.readAll()).rejects.toMatchObject({ code: "ENOENT" });
    await expect(test.vault.remove("none")).rejects.toMatchObject({ code: "secret.not_found" });
    expect([...(await test.readAll()).keys()]).toEqual(["vault.lock"]);
  });

  it("gives back what it was given, also when it is opened again", async () => {
    await using test = await openTestVault();
    const value = Buffer.from(Array.from({ length: 255 }, (_, i) => i + 1));
    const info = await test.vault.add({
      name: "raw",
      kind: "text",
      source: stored,
      value,
      note: "all bytes",
    });
    expect(info).toEqual({
      name: "raw",
      kind: "text",
      source: stored,
      note: "all bytes",
      createdAtMs: 1_000_000,
      updatedAtMs: 1_000_000,
      cacheMs: 300_000,
      versions: [{ version: 1, createdAtMs: 1_000_000 }],
    });
    const again = test.reopen();
    expect(await again.reveal("raw")).toEqual({ kind: "text", version: 1, bytes: value });
    expect(await again.find("raw")).toEqual(info);
    expect(await again.status()).toEqual({ master: "keyfile", isLocked: false, secrets: 1 });
    await test.vault.remove("raw");
    expect(await again.find("raw")).toBeUndefined();
    await expect(again.reveal("raw")).rejects.toMatchObject({ code: "secret.not_found" });
  });

  it("lists by name, and never a value", async () => {
    await using test = await openTestVault();
    await test.addText("zeta", canary);
    await test.addText("login/claude", canary);
    const list = await test.vault.list();
    expect(list.map(({ name }) => name)).toEqual(["login/claude", "zeta"]);
    expect(JSON.stringify(list)).not.toContain(canary);
  });

  it("uses a name once, and knows only names that are names", async () => {
    await using test = await openTestVault();
    await test.addText("one", canary);
    await expect(test.addText("one", "other")).rejects.toMatchObject({ code: "secret.exists" });
    expect(await test.textOf("one")).toBe(canary);
    for (const name of ["", "One", "../x", "a b", "a/b/c", "x".repeat(65)]) {
      await expect(test.addText(name, canary)).rejects.toMatchObject({ code: "input.invalid" });
    }
    await expect(test.vault.remove("two")).rejects.toMatchObject({ code: "secret.not_found" });
    const add = { name: "two", kind: "text", source: stored } as const;
    await expect(test.vault.add(add)).rejects.toMatchObject({ code: "input.invalid" });
    const elsewhere = { kind: "file", path: "relative" } as const;
    await expect(test.vault.add({ ...add, source: elsewhere })).rejects.toMatchObject({
      code: "input.invalid",
    });
  });
});

describe("versions", () => {
  it("the one before is there until its grace is over, and in no file after the next change", async () => {
    await using test = await openTestVault();
    await test.addText("token", "old");
    const rotated = await test.vault.rotate("token", Buffer.from("new"), 1_000);
    expect(rotated.versions).toEqual([
      { version: 1, createdAtMs: 1_000_000, revokedAtMs: 1_001_000 },
      { version: 2, createdAtMs: 1_000_000 },
    ]);
    const texts = async () => (await test.vault.revealAll("token")).map(({ bytes }) => bytes.toString());
    expect(await texts()).toEqual(["old", "new"]);
    expect(await test.textOf("token")).toBe("new");

    const versionsOnDisk = async () =>
      [...(await test.readAll())]
        .filter(([name]) => name.startsWith("vault.json"))
        .map(([, bytes]) => JSON.parse(bytes.toString()).secrets[0].versions.length);
    test.clock.advance(999);
    expect(await texts()).toEqual(["old", "new"]);
    test.clock.advance(1);
    expect(await texts()).toEqual(["new"]);
    expect((await test.vault.find("token"))?.versions).toHaveLength(1);
    expect(await versionsOnDisk()).toContain(2);
    await test.addText("other", "x");
    expect(await versionsOnDisk()).toEqual([1, 1]);
  });

  it("without a grace the one before is gone at once, from the file before as well", async () => {
    await using test = await openTestVault();
    await test.addText("token", "old");
    await test.vault.rotate("token", Buffer.from("new"), 0);
    expect((await test.vault.revealAll("token")).map(({ version }) => version)).toEqual([2]);
    const files = [...(await test.readAll())].filter(([name]) => name.startsWith("vault.json"));
    expect(files).toHaveLength(2);
    expect(files[0]![1]).toEqual(files[1]![1]);
  });

  it("a second rotation does not lengthen the first one's grace, and numbers grow", async () => {
    await using test = await openTestVault();
    await test.addText("token", "1");
    await test.vault.rotate("token", Buffer.from("2"), 100);
    await test.vault.rotate("token", Buffer.from("3"), 10_000);
    test.clock.advance(100);
    expect((await test.vault.revealAll("token")).map(({ version }) => version)).toEqual([2, 3]);
    await test.vault.rotate("token", Buffer.from("4"), 0);
    expect((await test.vault.reveal("token")).version).toBe(4);
  });

  it("only what is stored can be rotated, with a value of its kind and a grace that is one", async () => {
    await using test = await openTestVault();
    const source = { kind: "env", variable: "X" } as const;
    await test.vault.add({ name: "elsewhere", kind: "text", source });
    const rotate = (name: string, value = "x", graceMs = 0) =>
      test.vault.rotate(name, Buffer.from(value), graceMs);
    await expect(rotate("elsewhere")).rejects.toMatchObject({ code: "secret.not_stored" });
    await expect(rotate("none")).rejects.toMatchObject({ code: "secret.not_found" });
    await test.addText("token", canary);
    await expect(rotate("token", "")).rejects.toMatchObject({ code: "secret.invalid" });
    await expect(rotate("token", "x", -1)).rejects.toMatchObject({ code: "input.invalid" });
    expect(await test.textOf("token")).toBe(canary);
  });
});

describe("values of a kind", () => {
  const openSsh = (cipher: string, kdf: string) => {
    const string = (text: string) => Buffer.concat([Buffer.from([0, 0, 0, text.length]), Buffer.from(text)]);
    const blob = Buffer.concat([
      Buffer.from("openssh-key-v1\0"),
      string(cipher),
      string(kdf),
      string(canary),
    ]);
    return `-----BEGIN OPENSSH PRIVATE KEY-----\n${blob.toString("base64")}\n-----END OPENSSH PRIVATE KEY-----\n`;
  };
  const pem = (label: string, header = "") =>
    `-----BEGIN ${label}-----\n${header}${canary}\n-----END ${label}-----\n`;
  const tokens = { tokenEndpoint: "https://x/token", clientId: "c", scopes: [], accessToken: canary };

  const good: [SecretKind, string][] = [
    ["text", "two\nlines"],
    ["aws", JSON.stringify({ accessKeyId: "AKIA", secretAccessKey: canary })],
    ["aws", JSON.stringify({ accessKeyId: "AKIA", secretAccessKey: canary, sessionToken: "t" })],
    ["ssh-key", openSsh("none", "none")],
    ["ssh-key", pem("RSA PRIVATE KEY")],
    ["ssh-key", pem("PRIVATE KEY")],
    ["oauth", JSON.stringify(tokens)],
  ];
  const bad: [SecretKind, string, RegExp][] = [
    ["text", "", /is empty/],
    ["text", `${canary}\0`, /NUL/],
    ["text", canary.repeat(maxSecretBytes / 16), /larger than 64 KiB/],
    ["aws", canary, /is not JSON/],
    ["aws", JSON.stringify({ [canary]: canary }), /accessKeyId and secretAccessKey/],
    ["aws", JSON.stringify({ accessKeyId: "A", secretAccessKey: "B", [canary]: 1 }), /fields/],
    ["aws", JSON.stringify({ accessKeyId: "A\n", secretAccessKey: canary }), /right accessKeyId/],
    ["ssh-key", canary, /not a private key/],
    ["ssh-key", `ssh-ed25519 ${canary}`, /not a private key/],
    ["ssh-key", openSsh("aes256-ctr", "bcrypt"), /passphrase of its own/],
    ["ssh-key", pem("ENCRYPTED PRIVATE KEY"), /passphrase of its own/],
    ["ssh-key", pem("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: x\n\n"), /passphrase of its own/],
    ["oauth", JSON.stringify({ ...tokens, accessToken: 5 }), /right accessToken/],
  ];

  it("are taken when they are one", async () => {
    await using test = await openTestVault();
    for (const [at, [kind, text]] of good.entries()) {
      const name = `good-${at}`;
      await test.vault.add({ name, kind, source: stored, value: Buffer.from(text) });
      expect(await test.textOf(name)).toBe(text);
    }
  });

  it("are refused when they are not, with a reason that has nothing of the value", async () => {
    await using test = await openTestVault();
    for (const [kind, text, reason] of bad) {
      const adding = test.vault.add({ name: "bad", kind, source: stored, value: Buffer.from(text) });
      const error: unknown = await adding.catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "secret.invalid", message: expect.stringMatching(reason) });
      expect(JSON.stringify(error) + String(error) + String((error as Error).stack)).not.toContain(canary);
      expect((error as Error).cause).toBeUndefined();
    }
    expect(await test.vault.list()).toEqual([]);
  });
});

describe("export and import", () => {
  it("carries everything to another vault, and leaves alone what is there", async () => {
    await using from = await openTestVault();
    await from.addText("kept", "theirs");
    await from.addText("token", "old");
    await from.vault.rotate("token", Buffer.from(canary), 1_000);
    await from.vault.add({
      name: "outside",
      kind: "text",
      source: { kind: "env", variable: "X" },
      cacheMs: 7,
    });
    const sealed = await from.vault.export("correct horse");
    expect(sealed.toString()).not.toContain(canary);
    expect(sealed.toString()).not.toContain("outside");

    await using to = await openTestVault();
    await to.addText("kept", "mine");
    expect(await to.vault.import(sealed, "correct horse")).toEqual({
      added: ["token", "outside"],
      skipped: ["kept"],
    });
    expect(await to.textOf("kept")).toBe("mine");
    expect((await to.vault.revealAll("token")).map(({ bytes }) => bytes.toString())).toEqual(["old", canary]);
    expect(await to.vault.find("outside")).toEqual(await from.vault.find("outside"));
    expect(await to.vault.import(sealed, "correct horse")).toMatchObject({ added: [] });
  });

  it("takes nothing by a wrong passphrase, from a changed file, or from something else", async () => {
    await using from = await openTestVault();
    await from.addText("token", canary);
    const sealed = await from.vault.export("correct horse");
    await using to = await openTestVault();
    await expect(to.vault.import(sealed, "wrong")).rejects.toMatchObject({ code: "vault.wrong_passphrase" });
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 4;
      // An unneeded line break at the end, and the last bits of base64, mean nothing.
      const outcome = await to.vault.import(changed, "correct horse").catch((error: unknown) => error);
      if (outcome instanceof Error) {
        expect(["vault.corrupted", "vault.wrong_passphrase"]).toContain(Object(outcome).code);
      } else {
        expect(await to.textOf("token")).toBe(canary);
        await to.vault.remove("token");
      }
    }
    const refused = { code: "vault.corrupted" };
    for (const text of ["", "{}", canary, sealed.toString().slice(0, -40)]) {
      await expect(to.vault.import(Buffer.from(text), "correct horse")).rejects.toMatchObject(refused);
    }
    await expect(from.vault.export(" ")).rejects.toMatchObject({ code: "input.invalid" });
  });
});
