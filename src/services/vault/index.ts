/**
 * Vault in a directory of the host: one file, encrypted value by value, and the keeper of its master key. Values from
 * elsewhere are read when they are used. A box never reaches any of it.
 */
import type { Clock } from "../../base/clock.ts";
import { type Logger, silentLogger } from "../../host/logger.ts";
import type { Vault } from "../../ports/vault.ts";
import { type Keyring, openSecretTool } from "./keyring.ts";
import { MasterKeys } from "./master-keys.ts";
import { OutsideValues } from "./outside-values.ts";
import { defaultScryptCost } from "./passphrase.ts";
import { PrivateDirectory } from "./private-directory.ts";
import { SecretStore } from "./secret-store.ts";
import { UnlockedFile, noPassphrase } from "./unlocked-file.ts";
import { VaultFile, type WriteStep } from "./vault-file.ts";

export interface VaultOptions {
  /** Made by the first secret; until then the directory stays empty. */
  readonly dir: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** The host's variables: for secrets that are in one, and for the programs that are asked for others. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly keyring?: Keyring;
  /** The cost of guessing a passphrase; a power of two. */
  readonly scryptCost?: number;
  readonly commandTimeoutMs?: number;
  /** Called before each step of a write; what it throws is a fault of that step. */
  readonly beforeStep?: (step: WriteStep) => void;
}

export function openVault(options: VaultOptions): Vault {
  const { clock, env, logger = silentLogger, scryptCost = defaultScryptCost } = options;
  const directory = new PrivateDirectory(options.dir);
  const masters = new MasterKeys(directory, options.keyring ?? openSecretTool(env), scryptCost);
  const vaultFile = new VaultFile(directory, logger, options.beforeStep ?? (() => undefined));
  const file = new UnlockedFile(vaultFile, masters, logger);
  const outside = new OutsideValues(clock, { env, commandTimeoutMs: options.commandTimeoutMs ?? 30_000 });
  const secrets = new SecretStore({ file, outside, clock, scryptCost });

  const lock = () => {
    file.lock();
    outside.forget();
  };

  return {
    async status() {
      const { document, hasKey } = await file.look();
      const master = document?.master.kind ?? "keyfile";
      const isLocked = master === "passphrase" && !hasKey;
      return { master, isLocked, secrets: document?.secrets.length ?? 0 };
    },
    unlock: (passphrase) => file.unlock(passphrase),
    async lock() {
      if ((await file.look()).document?.master.kind !== "passphrase") throw noPassphrase();
      lock();
    },
    list: () => secrets.list(),
    find: (name) => secrets.find(name),
    add: (secret) => secrets.add(secret),
    rotate: (name, value, graceMs) => secrets.rotate(name, value, graceMs),
    remove: (name) => secrets.remove(name),
    reveal: (name) => secrets.reveal(name),
    revealAll: (name) => secrets.revealAll(name),
    rekey: (change) => file.rekey(change),
    export: (passphrase) => secrets.export(passphrase),
    import: (sealed, passphrase) => secrets.import(sealed, passphrase),
    [Symbol.asyncDispose]: async () => lock(),
  };
}
