import { chmod, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MasterKey } from "./master-key.ts";
import { openVersion, sealVersion } from "./secret-entry.ts";
import { openTestVault } from "./vault.fixture.ts";

const canary = "canary-value-4711";
const refusals = ["vault.corrupted", "vault.wrong_passphrase"];

async function openDamaged(passphrase?: string) {
  const test = await openTestVault();
  await test.addText("one", "first");
  await test.addText("two", "second");
  if (passphrase) await test.vault.rekey({ to: "passphrase", passphrase });
  const path = join(test.dir, "vault.json");
  return { test, path, whole: await readFile(path) };
}

describe("a vault's file that was changed", () => {
  it("a bit that is another anywhere never gives another value", async () => {
    const { test, path, whole } = await openDamaged("correct horse");
    await using _test = test;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(7), async (at, bit) => {
        const changed = Buffer.from(whole);
        changed[at]! ^= 1 << bit;
        await writeFile(path, changed);
        const vault = test.reopen();
        try {
          await vault.unlock("correct horse");
          expect(await test.textOf("one", vault)).toBe("first");
          expect(await test.textOf("two", vault)).toBe("second");
          // Only what means the same to base64, and the mark of the end, for which the file before stands in.
          expect(at === whole.length - 1 || sameDocument(changed, whole)).toBe(true);
        } catch (error) {
          if ((error as Error).name === "AssertionError") throw error;
          expect(refusals).toContain(Object(error).code);
          expect(JSON.stringify(error)).not.toContain(canary);
          refused++;
        }
      }),
      { numRuns: 400 },
    );
    expect(refused).toBeGreaterThan(350);
    await writeFile(path, whole);
    const vault = test.reopen();
    await vault.unlock("correct horse");
    expect(await test.textOf("two", vault)).toBe("second");
  });

  it("is not believed when a source, a note or a time is another, though no value is touched", async () => {
    await using test = await openTestVault();
    const source = { kind: "command" as const, argv: ["printf", "mine"] };
    await test.vault.add({ name: "token", kind: "text", source, note: "n" });
    const path = join(test.dir, "vault.json");
    const text = await readFile(path, "utf8");
    expect(await test.textOf("token", test.reopen())).toBe("mine");
    for (const [from, to] of [
      ["mine", "evil"],
      ['"n"', '"m"'],
      ["1000000", "1000001"],
      ['"generation":1', '"generation":2'],
    ] as const) {
      await writeFile(path, text.replace(from, to));
      await expect(test.reopen().reveal("token")).rejects.toMatchObject({ code: "vault.corrupted" });
      await expect(test.reopen().remove("token")).rejects.toMatchObject({ code: "vault.corrupted" });
      // One that had it open notices as well.
      await expect(test.vault.reveal("token")).rejects.toMatchObject({ code: "vault.corrupted" });
    }
  });

  it("a value that was moved to another name, kind or version does not open there", () => {
    const { key } = MasterKey.random();
    const at = { version: 1, createdAtMs: 0 };
    const owner = { name: "one", kind: "text" } as const;
    const sealed = sealVersion(owner, at, Buffer.from(canary), key);
    expect(openVersion(owner, sealed, key).bytes.toString()).toBe(canary);
    const refused = expect.objectContaining({ code: "vault.corrupted" });
    expect(() => openVersion({ ...owner, name: "two" }, sealed, key)).toThrow(refused);
    expect(() => openVersion({ ...owner, kind: "aws" }, sealed, key)).toThrow(refused);
    expect(() => openVersion(owner, { ...sealed, version: 2 }, key)).toThrow(refused);
    const other = sealVersion(owner, at, Buffer.from("x"), key);
    expect(() => openVersion(owner, { ...sealed, value: other.value }, key)).toThrow(refused);
    expect(() => openVersion(owner, { ...sealed, key: other.key }, key)).toThrow(refused);
  });
});

describe("a vault's file that was not written to its end", () => {
  it("the one from before the last change is used, which is said, and nothing is lost on the way", async () => {
    const { test, path, whole } = await openDamaged();
    await using _test = test;
    for (const length of [0, 1, Math.floor(whole.length / 2), whole.length - 1]) {
      await writeFile(path, whole.subarray(0, length));
      const vault = test.reopen();
      expect(await test.textOf("one", vault)).toBe("first");
      expect(await vault.find("two")).toBeUndefined();
      expect(test.warnings.at(-1)).toContain("not whole");
    }
    const half = whole.subarray(0, -1);
    const vault = test.reopen();
    await vault.rotate("one", Buffer.from("newer"), 1_000);
    expect(await test.textOf("one", test.reopen())).toBe("newer");
    expect(await readFile(join(test.dir, "vault.json.damaged"))).toEqual(half);
    await rename(path, `${path}.gone`);
    expect(await test.textOf("one", test.reopen())).toBe("first");
  });

  it("is an error when there is no other, and stays as it is", async () => {
    await using test = await openTestVault();
    await test.addText("one", canary);
    const path = join(test.dir, "vault.json");
    const half = (await readFile(path)).subarray(0, 50);
    await writeFile(path, half);
    await writeFile(join(test.dir, "vault.json.previous"), half);
    const refused = { code: "vault.corrupted" };
    await expect(test.reopen().reveal("one")).rejects.toMatchObject(refused);
    await expect(test.addText("two", "x")).rejects.toMatchObject(refused);
    await expect(test.vault.status()).rejects.toMatchObject(refused);
    expect(await readFile(path)).toEqual(half);
  });
});

describe("files that others can reach", () => {
  it("are refused, as are links and what is no file, until they are put right", async () => {
    await using test = await openTestVault();
    await test.addText("one", canary);
    const refused = (problem: string) => ({
      code: "vault.failed",
      message: expect.stringContaining(problem),
    });
    const names = [...(await test.readAll()).keys()].filter((name) => /json$|key$/.test(name));
    expect(names).toHaveLength(2);
    for (const path of [test.dir, ...names.map((name) => join(test.dir, name))]) {
      const { mode } = await stat(path);
      await chmod(path, mode | 0o040);
      await expect(test.reopen().reveal("one")).rejects.toMatchObject(refused("by others"));
      await chmod(path, mode);
      expect(await test.textOf("one", test.reopen())).toBe(canary);

      await rename(path, join(test.root, "moved"));
      await symlink(join(test.root, "moved"), path);
      await expect(test.reopen().reveal("one")).rejects.toMatchObject(refused("is"));
      await rm(path);
      await rename(join(test.root, "moved"), path);
      expect(await test.textOf("one", test.reopen())).toBe(canary);
    }
    const [path] = names.map((name) => join(test.dir, name));
    await rename(path!, join(test.root, "moved"));
    await mkdir(path!);
    await expect(test.reopen().reveal("one")).rejects.toMatchObject(refused("is not a file"));
  });

  it("are never made, whatever the umask, and no value is in plain in any of them", async () => {
    await using test = await openTestVault();
    const umask = process.umask(0);
    try {
      await test.addText("one", canary);
      await test.vault.rotate("one", Buffer.from(`${canary}-2`), 1_000);
      await test.vault.rekey({ to: "keyfile" });
      await test.vault.rekey({ to: "passphrase", passphrase: `${canary}-3` });
      await test.addText("two", canary);
    } finally {
      process.umask(umask);
    }
    expect((await stat(test.dir)).mode & 0o7777).toBe(0o700);
    const files = await test.readAll();
    expect([...files.keys()].sort()).toEqual(["vault.json", "vault.json.previous", "vault.lock"]);
    for (const [name, bytes] of files) {
      expect((await stat(join(test.dir, name))).mode & 0o7777).toBe(0o600);
      for (const encoding of ["utf8", "base64", "hex"] as const) {
        expect(bytes.toString()).not.toContain(Buffer.from(canary).toString(encoding).slice(0, 20));
      }
    }
    expect(test.warnings.join()).not.toContain(canary);
    expect(await test.textOf("two")).toBe(canary);
  });
});

/** Whether two files mean the same to who reads them: base64 has bits that mean nothing. */
function sameDocument(a: Buffer, b: Buffer): boolean {
  const normal = (bytes: Buffer) =>
    JSON.stringify(JSON.parse(bytes.toString()), (_, value: unknown) =>
      typeof value === "string" ? Buffer.from(value, "base64").toString("hex") : value,
    );
  return normal(a) === normal(b);
}
