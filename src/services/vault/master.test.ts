import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSecretTool } from "./keyring.ts";
import { openTestVault } from "./vault.fixture.ts";
import type { WriteStep } from "./vault-file.ts";

const passphrase = "correct horse";
const toPassphrase = { to: "passphrase", passphrase } as const;

describe("a passphrase", () => {
  it("opens the vault, a wrong one does not, and locking forgets it", async () => {
    await using test = await openTestVault();
    await test.addText("one", "value");
    await test.vault.rekey(toPassphrase);
    // Who has just chosen it need not type it again.
    expect(await test.textOf("one")).toBe("value");
    const vault = test.reopen();
    expect(await vault.status()).toEqual({ master: "passphrase", isLocked: true, secrets: 1 });
    const locked = { code: "vault.locked" };
    await expect(vault.reveal("one")).rejects.toMatchObject(locked);
    await expect(vault.revealAll("one")).rejects.toMatchObject(locked);
    await expect(vault.rotate("one", Buffer.from("x"), 0)).rejects.toMatchObject(locked);
    await expect(vault.remove("one")).rejects.toMatchObject(locked);
    await expect(vault.rekey({ to: "keyfile" })).rejects.toMatchObject(locked);
    await expect(vault.export("x")).rejects.toMatchObject(locked);
    expect((await vault.list()).map(({ name }) => name)).toEqual(["one"]);

    await expect(vault.unlock("wrong")).rejects.toMatchObject({ code: "vault.wrong_passphrase" });
    expect(await vault.status()).toMatchObject({ isLocked: true });
    await vault.unlock(passphrase);
    expect(await vault.status()).toMatchObject({ isLocked: false });
    expect(await test.textOf("one", vault)).toBe("value");
    await vault.lock();
    await expect(vault.reveal("one")).rejects.toMatchObject(locked);
  });

  it("is one and the same however its letters were composed, and is never empty", async () => {
    await using test = await openTestVault();
    await test.vault.rekey({ to: "passphrase", passphrase: "caf\u00e9" });
    await test.reopen().unlock("cafe\u0301");
    await expect(test.vault.rekey({ to: "passphrase", passphrase: "  " })).rejects.toMatchObject({
      code: "input.invalid",
    });
    await expect(test.vault.rekey({ to: "passphrase" })).rejects.toMatchObject({ code: "input.invalid" });
  });

  it("a vault without one is neither locked nor unlocked", async () => {
    await using test = await openTestVault();
    await test.addText("one", "value");
    await expect(test.vault.lock()).rejects.toMatchObject({ code: "input.invalid" });
    await expect(test.vault.unlock("x")).rejects.toMatchObject({ code: "input.invalid" });
    expect(await test.textOf("one")).toBe("value");
  });

  it("costs what it should by default", async () => {
    await using test = await openTestVault({ scryptCost: 2 ** 17 });
    await test.vault.rekey(toPassphrase);
    const { master } = JSON.parse(await readFile(join(test.dir, "vault.json"), "utf8"));
    expect(master.derivation).toMatchObject({ cost: 131_072, blockSize: 8, parallelism: 1 });
    const vault = test.reopen();
    await Promise.all([vault.unlock(passphrase), vault.unlock(passphrase)]);
  });
});

describe("a key in a file or in the keyring", () => {
  it("that is gone or another is said to be", async () => {
    await using test = await openTestVault();
    await test.addText("one", "value");
    const [name] = (await readdir(test.dir)).filter((each) => each.endsWith(".key"));
    const path = join(test.dir, name!);
    const key = await readFile(path);
    expect(key).toHaveLength(32);
    for (const changed of [key.map((byte, at) => (at === 7 ? byte ^ 1 : byte)), key.subarray(1)]) {
      await writeFile(path, changed);
      await expect(test.reopen().reveal("one")).rejects.toMatchObject({ code: "vault.corrupted" });
    }
    await rm(path);
    await expect(test.reopen().reveal("one")).rejects.toMatchObject({
      code: "vault.failed",
      message: expect.stringContaining("no key file"),
    });
    await test.vault.rekey({ to: "keyring" });
    test.keyring.keys.clear();
    await expect(test.reopen().reveal("one")).rejects.toMatchObject({
      message: expect.stringContaining("keyring has no key"),
    });
  });

  it("goes to the keyring's program and back by stdin and stdout, never as an argument", async () => {
    await using test = await openTestVault();
    const program = join(test.root, "secret-tool");
    const script = `#!/bin/sh
      echo "$@" >> ${test.root}/argv
      case $1 in store) cat > ${test.root}/key;; lookup) cat ${test.root}/key;; esac`;
    await writeFile(program, script, { mode: 0o700 });
    const keyring = openSecretTool({ PATH: `${test.root}:/usr/bin:/bin` });
    const key = Buffer.alloc(32, 0xa5);
    await keyring.store("id", key);
    expect(await readFile(join(test.root, "key"), "utf8")).toBe(key.toString("base64"));
    expect(await keyring.find("id")).toEqual(key);
    await keyring.remove("id");
    expect(await readFile(join(test.root, "argv"), "utf8")).toBe(
      "store --label=AgentBox vault service agentbox-vault key id\n" +
        "lookup service agentbox-vault key id\nclear service agentbox-vault key id\n",
    );
  });

  it("a keyring that is not there is said to be, and the vault stays as it was", async () => {
    for (const env of [{ PATH: "/nonexistent" }, { PATH: "/usr/bin:/bin" }]) {
      await using test = await openTestVault({ keyring: openSecretTool(env) });
      await test.addText("one", "value");
      await expect(test.vault.rekey({ to: "keyring" })).rejects.toMatchObject({
        code: "vault.failed",
        hint: expect.stringContaining("libsecret-tools"),
      });
      expect(await test.vault.status()).toMatchObject({ master: "keyfile" });
      expect(await test.textOf("one", test.reopen())).toBe("value");
    }
  });
});

describe("another master key", () => {
  const kinds = [toPassphrase, { to: "keyring" }, { to: "keyfile" }] as const;

  it("of any kind after any other: every value stays, and the key before is nowhere", async () => {
    await using test = await openTestVault();
    await test.addText("one", "first");
    await test.vault.rotate("one", Buffer.from("second"), 1_000);
    const old = new Set<string>();
    for (const change of [...kinds, ...[...kinds].reverse(), toPassphrase, toPassphrase]) {
      const before = await readFile(join(test.dir, "vault.json"), "utf8");
      old.add(JSON.parse(before).master.id);
      await test.vault.rekey(change);
      expect(await test.vault.status()).toMatchObject({ master: change.to, isLocked: false });
      const again = test.reopen();
      if (change.to === "passphrase") await again.unlock(passphrase);
      expect((await again.revealAll("one")).map(({ bytes }) => bytes.toString())).toEqual([
        "first",
        "second",
      ]);
      const { master, secrets } = JSON.parse(await readFile(join(test.dir, "vault.json"), "utf8"));
      expect(secrets[0].versions[0].key).not.toBe(JSON.parse(before).secrets[0].versions[0].key);
      const files = await test.readAll();
      expect(JSON.parse(files.get("vault.json.previous")!.toString()).master.id).toBe(master.id);
      const kept = [...files.keys()].flatMap((name) => /^master-(.*)\.key$/.exec(name)?.[1] ?? []);
      expect([...kept, ...test.keyring.keys.keys()]).toEqual(change.to === "passphrase" ? [] : [master.id]);
      expect(old.has(master.id)).toBe(false);
    }
  });

  it("one who had the vault open notices", async () => {
    await using test = await openTestVault();
    await test.addText("one", "value");
    const other = test.reopen();
    expect(await test.textOf("one", other)).toBe("value");
    await test.vault.rekey({ to: "keyfile" });
    expect(await test.textOf("one", other)).toBe("value");
    await test.vault.rekey(toPassphrase);
    await expect(other.reveal("one")).rejects.toMatchObject({ code: "vault.locked" });
  });

  it("a fault at any step leaves the old or the new, and no key that nothing needs", async () => {
    const steps: readonly WriteStep[] = ["stage", "keep", "place", "forget"];
    for (const failing of steps) {
      for (const change of kinds) {
        let isFaulty = false;
        const beforeStep = (step: WriteStep) => {
          if (isFaulty && step === failing) throw new Error("the disk is on fire");
        };
        await using test = await openTestVault({ beforeStep });
        await test.addText("one", "value");
        isFaulty = true;
        const outcome = test.vault.rekey(change);
        // A failure after the change is in place does not undo it.
        if (failing === "forget") await outcome;
        else await expect(outcome).rejects.toThrow("on fire");
        isFaulty = false;
        const again = test.reopen();
        const isNew = failing === "forget";
        expect((await again.status()).master).toBe(isNew ? change.to : "keyfile");
        if (isNew && change.to === "passphrase") await again.unlock(passphrase);
        expect(await test.textOf("one", again)).toBe("value");
        await again.add({
          name: "two",
          kind: "text",
          source: { kind: "stored" },
          value: Buffer.from("2"),
        });
        await again.remove("two");
        expect(test.keyring.keys.size).toBe(isNew && change.to === "keyring" ? 1 : 0);
        const files = [...(await test.readAll()).keys()].sort();
        const hasKeyFile = !isNew || change.to === "keyfile";
        expect(files.filter((name) => name.endsWith(".key"))).toHaveLength(hasKeyFile ? 1 : 0);
        expect(files.filter((name) => name.endsWith(".tmp"))).toEqual([]);
      }
    }
  });
});
