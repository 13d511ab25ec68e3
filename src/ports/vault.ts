/**
 * The vault: secrets at rest. Guarantees:
 * - On disk a value exists only encrypted, under a data key of its own that the master key wraps.
 * - A change is whole or not there at all; what was there before remains until it is.
 * - A value is in no message of an error, and `list` never has one.
 */
import type {
  MasterKind,
  SecretInfo,
  SecretKind,
  SecretSource,
  VaultStatus,
} from "../contract/secret/secret.ts";

/** A value, as it is used. Its holder must not keep it, log it or put it into an error. */
export interface SecretValue {
  readonly kind: SecretKind;
  readonly version: number;
  readonly bytes: Buffer;
}

export interface NewSecret {
  readonly name: string;
  readonly kind: SecretKind;
  readonly source: SecretSource;
  /** For `stored` only. */
  readonly value?: Buffer | undefined;
  readonly note?: string | undefined;
  readonly cacheMs?: number | undefined;
}

export interface MasterChange {
  readonly to: MasterKind;
  /** For `passphrase`. */
  readonly passphrase?: string | undefined;
}

export interface Vault extends AsyncDisposable {
  status(): Promise<VaultStatus>;
  /** Opens a vault whose master key needs a passphrase; `vault.wrong_passphrase` otherwise. */
  unlock(passphrase: string): Promise<void>;
  /** Forgets the master key and every value; only for a passphrase. */
  lock(): Promise<void>;
  list(): Promise<readonly SecretInfo[]>;
  find(name: string): Promise<SecretInfo | undefined>;
  /** Fails with `secret.exists` when the name is in use. */
  add(secret: NewSecret): Promise<SecretInfo>;
  /**
   * A new version. The one before is still known to `revealAll` until the grace is over (0: gone at once). Fails with
   * `secret.not_stored` for a value that is elsewhere.
   */
  rotate(name: string, value: Buffer, graceMs: number): Promise<SecretInfo>;
  remove(name: string): Promise<void>;
  /** The value in use; from elsewhere it is read now, or was less than `cacheMs` ago. Fails with `secret.not_found`,
   * `secret.unavailable` or `vault.locked`. */
  reveal(name: string): Promise<SecretValue>;
  /** Every version that has not been revoked: what must be recognised in answers. */
  revealAll(name: string): Promise<readonly SecretValue[]>;
  /** A new master key, of this or another kind; every data key is wrapped again. */
  rekey(change: MasterChange): Promise<void>;
  /** Everything, sealed to a passphrase. */
  export(passphrase: string): Promise<Buffer>;
  /** Takes what it does not have; names that exist are left alone and named in the answer. */
  import(
    sealed: Buffer,
    passphrase: string,
  ): Promise<{ readonly added: string[]; readonly skipped: string[] }>;
}
