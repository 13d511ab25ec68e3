/** A vault in a directory of its own, with a clock that stands still until it is moved. */
import { mkdtemp, readFile, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { inheritedEnv } from "../../host/env.ts";
import { removeTree } from "../../host/files.ts";
import type { Vault } from "../../ports/vault.ts";
import { type VaultOptions, openVault } from "./index.ts";
import type { Keyring } from "./keyring.ts";

interface FakeClock extends Clock {
  /** Calls back the functions whose time has come. */
  advance(ms: number): void;
}

function openFakeClock(startMs = 1_000_000): FakeClock {
  let now = startMs;
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  return {
    nowMs: () => now,
    monotonicMs: () => now,
    after(ms, callback) {
      const timer = { atMs: now + ms, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      now += ms;
      for (const timer of timers) {
        if (timer.atMs > now) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

interface TestKeyring extends Keyring {
  readonly keys: Map<string, Buffer>;
}

function openTestKeyring(): TestKeyring {
  const keys = new Map<string, Buffer>();
  return {
    keys,
    find: async (id) => keys.get(id) && Buffer.from(keys.get(id)!),
    store: async (id, key) => void keys.set(id, Buffer.from(key)),
    remove: async (id) => void keys.delete(id),
  };
}

interface TestVault extends AsyncDisposable {
  readonly dir: string;
  /** The directories around the vault's own. */
  readonly root: string;
  readonly clock: FakeClock;
  readonly keyring: TestKeyring;
  readonly warnings: string[];
  readonly vault: Vault;
  /** As another process would. */
  reopen(more?: Partial<VaultOptions>): Vault;
  addText(name: string, value: string): Promise<unknown>;
  /** The text of the value in use. */
  textOf(name: string, vault?: Vault): Promise<string>;
  /** Every byte of every file. */
  readAll(): Promise<Map<string, Buffer>>;
}

export async function openTestVault(options: Partial<VaultOptions> = {}): Promise<TestVault> {
  const root = await mkdtemp(join(tmpdir(), "abx-vault-"));
  const dir = join(root, "vault");
  const clock = openFakeClock();
  const keyring = openTestKeyring();
  const warnings: string[] = [];
  const warn = (facts: Record<string, unknown>, text: string) =>
    void warnings.push(`${text} ${JSON.stringify(facts)}`);
  const logger = { debug: warn, info: warn, warn, error: warn };
  const env = { PATH: inheritedEnv()["PATH"] };
  const reopen = (more: Partial<VaultOptions> = {}): Vault =>
    openVault({ dir, clock, logger, env, keyring, scryptCost: 2 ** 10, ...options, ...more });
  const vault = reopen();
  return {
    root,
    dir,
    clock,
    keyring,
    warnings,
    vault,
    reopen,
    addText: (name, value) =>
      vault.add({ name, kind: "text", source: { kind: "stored" }, value: Buffer.from(value) }),
    textOf: async (name, from = vault) => (await from.reveal(name)).bytes.toString(),
    readAll: async () => {
      const names = await readdir(dir);
      return new Map(
        await Promise.all(names.map(async (name) => [name, await readFile(join(dir, name))] as const)),
      );
    },
    [Symbol.asyncDispose]: async () => {
      await vault[Symbol.asyncDispose]();
      await removeTree(root);
    },
  };
}
