import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type SecretSource, maxSecretBytes } from "../../contract/secret/secret.ts";
import { inheritedEnv } from "../../host/env.ts";
import { run } from "../../host/run.ts";
import type { VaultOptions } from "./index.ts";
import { openTestVault } from "./vault.fixture.ts";

const canary = "canary-value-4711";

async function openWith(
  source: (root: string) => SecretSource,
  more: Partial<VaultOptions> = {},
  cacheMs?: number,
) {
  const test = await openTestVault(more);
  const add = (kind: "text" | "aws" = "text") =>
    test.vault.add({ name: "it", kind, source: source(test.root), cacheMs });
  await add();
  const refusal = async () => {
    const error: unknown = await test.vault.reveal("it").catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "secret.unavailable" });
    const { message, hint, facts, stack, cause } = error as Error & { hint: string; facts: unknown };
    expect(JSON.stringify([message, hint, facts, stack, cause])).not.toContain(canary);
    return message;
  };
  return { ...test, add, refusal, [Symbol.asyncDispose]: test[Symbol.asyncDispose] };
}

describe("a value in a variable", () => {
  const source = () => ({ kind: "env", variable: "MY_TOKEN" }) as const;

  it("is read from the host's environment, and is unavailable without it", async () => {
    await using test = await openWith(source, { env: { MY_TOKEN: canary } });
    expect(await test.vault.reveal("it")).toEqual({ kind: "text", version: 1, bytes: Buffer.from(canary) });
    expect((await test.vault.find("it"))?.versions).toEqual([]);
    expect(JSON.stringify([...(await test.readAll()).values()].map(String))).not.toContain(canary);
    await using without = await openWith(source, { env: {} });
    expect(await without.refusal()).toContain("MY_TOKEN is not set");
  });
});

describe("a value in a file", () => {
  const source = (root: string) => ({ kind: "file", path: join(root, "token") }) as const;

  it("is read when it is used, without its last line break, also through a link", async () => {
    await using test = await openWith(source, {}, 0);
    expect(await test.refusal()).toContain("ENOENT");
    for (const [text, value] of [
      [canary, canary],
      [`${canary}\n`, canary],
      [`${canary}\r\n`, canary],
      [`a\n\n`, "a\n"],
      ["x".repeat(maxSecretBytes), "x".repeat(maxSecretBytes)],
    ] as const) {
      await writeFile(join(test.root, "token"), text);
      expect(await test.textOf("it")).toBe(value);
    }
    await symlink(join(test.root, "token"), join(test.root, "linked"));
    const linked = { kind: "file", path: join(test.root, "linked") } as const;
    await test.vault.add({ name: "linked", kind: "text", source: linked });
    expect(await test.textOf("linked")).toBe(await test.textOf("it"));
  });

  it("is unavailable when it is too big, empty, of another kind, or no file", async () => {
    await using test = await openWith(source, {}, 0);
    const path = join(test.root, "token");
    for (const [text, problem] of [
      ["x".repeat(maxSecretBytes + 1), "larger"],
      ["x".repeat(maxSecretBytes * 4), "larger"],
      ["\n", "empty"],
      [`${canary}\0`, "NUL"],
    ] as const) {
      await writeFile(path, text);
      expect(await test.refusal()).toContain(problem);
    }
    await writeFile(path, canary);
    await test.vault.remove("it");
    await test.add("aws");
    expect(await test.refusal()).toContain("not JSON");
    await run(["rm", path]);
    // A pipe without a writer would be waited for without end.
    expect((await run(["mkfifo", path])).code).toBe(0);
    expect(await test.refusal()).toContain("is not a file");
  });
});

describe("a value that a program prints", () => {
  /** Counts in a file how often it was run. */
  const counting = (root: string): SecretSource => ({
    kind: "command",
    argv: ["sh", "-c", 'echo run >> "$1"; echo canary-value-$(wc -l < "$1")', "sh", join(root, "runs")],
  });
  const runsOf = async ({ root }: { root: string }) =>
    (await readFile(join(root, "runs"), "utf8")).split("\n").length - 1;
  const shell = (script: string) => (): SecretSource => ({ kind: "command", argv: ["sh", "-c", script] });

  it("is asked for once by many, kept for its time, and asked for again", async () => {
    await using test = await openWith(counting, {}, 1_000);
    const all = await Promise.all(Array.from({ length: 20 }, () => test.textOf("it")));
    expect(new Set(all)).toEqual(new Set(["canary-value-1"]));
    test.clock.advance(999);
    expect(await test.textOf("it")).toBe("canary-value-1");
    expect(await runsOf(test)).toBe(1);
    test.clock.advance(1);
    expect(await test.textOf("it")).toBe("canary-value-2");
    await test.vault.remove("it");
    await test.add();
    expect(await test.textOf("it")).toBe("canary-value-3");
  });

  it("five minutes unless said otherwise; without a time it is asked for every time, but once by many", async () => {
    await using kept = await openWith(counting);
    await kept.textOf("it");
    kept.clock.advance(5 * 60_000 - 1);
    await kept.textOf("it");
    expect(await runsOf(kept)).toBe(1);
    kept.clock.advance(1);
    await kept.textOf("it");
    expect(await runsOf(kept)).toBe(2);
    await using never = await openWith(counting, {}, 0);
    await Promise.all([never.textOf("it"), never.textOf("it")]);
    expect(await runsOf(never)).toBe(1);
    expect(await never.textOf("it")).toBe("canary-value-2");
  });

  it("what was handed out stays, and what was kept is forgotten by a lock", async () => {
    await using test = await openWith(counting);
    const value = await test.vault.reveal("it");
    value.bytes.fill(0);
    expect(await test.textOf("it")).toBe("canary-value-1");
    await test.vault.rekey({ to: "passphrase", passphrase: "p" });
    await test.vault.lock();
    await expect(test.vault.reveal("it")).rejects.toMatchObject({ code: "vault.locked" });
    await test.vault.unlock("p");
    expect(await test.textOf("it")).toBe("canary-value-2");
  });

  it("that fails, is missing or says nothing is unavailable, and a failure is not remembered", async () => {
    await using failing = await openWith(shell(`echo ${canary}; echo ${canary} >&2; exit 3`));
    expect(await failing.refusal()).toContain("ended with 3");
    await using missing = await openWith(() => ({ kind: "command", argv: ["/nonexistent/program", canary] }));
    expect(await missing.refusal()).toContain("ENOENT");
    await using silent = await openWith(shell("true"));
    expect(await silent.refusal()).toContain("is empty");
    await using later = await openWith((root) => ({ kind: "command", argv: ["cat", join(root, "there")] }));
    expect(await later.refusal()).toContain("ended with 1");
    await writeFile(join(later.root, "there"), canary);
    expect(await later.textOf("it")).toBe(canary);
  });

  it("that hangs is ended with everything it has started", async () => {
    const hanging = (root: string): SecretSource => ({
      kind: "command",
      argv: ["sh", "-c", 'sleep 600 & echo $! > "$1"; echo canary-value-4711; wait', "sh", join(root, "pid")],
    });
    await using test = await openWith(hanging, { commandTimeoutMs: 500 });
    expect(await test.refusal()).toContain("took longer than 500 ms");
    const pid = Number(await readFile(join(test.root, "pid"), "utf8"));
    const state = () => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "gone");
    // Ended, but perhaps not collected: that is up to the first process of the host.
    await expect.poll(state).toMatch(/^gone|\) Z /);
  });

  it("that prints without end is ended at once", async () => {
    await using test = await openWith(() => ({ kind: "command", argv: ["yes", canary] }));
    expect(await test.refusal()).toContain("printed too much");
    await using just = await openWith(shell(`head -c ${maxSecretBytes} /dev/zero | tr '\\0' x; echo`));
    expect((await just.vault.reveal("it")).bytes).toHaveLength(maxSecretBytes);
  });

  it("gets the host's variables and its words as they are, and no shell", async () => {
    const env = { PATH: inheritedEnv()["PATH"], MINE: "from the host" };
    await using test = await openWith(
      () => ({ kind: "command", argv: ["printf", "%s|", "$MINE", "`id`", ";"] }),
      { env },
    );
    expect(await test.textOf("it")).toBe("$MINE|`id`|;|");
    await using printing = await openWith(() => ({ kind: "command", argv: ["printenv", "MINE"] }), { env });
    expect(await printing.textOf("it")).toBe("from the host");
  });
});
