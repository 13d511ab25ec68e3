/**
 * Where master keys are kept: in a file of the vault's directory, in the desktop's keyring, or nowhere, because a
 * passphrase makes it anew. A key is on the disk before anything is written that needs it.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { MasterChange } from "../../ports/vault.ts";
import { type MasterHeader, corrupted } from "./document.ts";
import { keyBytes } from "./envelope.ts";
import type { Keyring } from "./keyring.ts";
import { MasterKey, newKeyId, vaultLocked } from "./master-key.ts";
import { checkNewPassphrase, deriveKey, newDerivation, wrongPassphrase } from "./passphrase.ts";
import type { PrivateDirectory } from "./private-directory.ts";

export interface NewMaster {
  readonly header: MasterHeader;
  readonly key: MasterKey;
}

const fileOf = (id: string): string => `master-${id}.key`;

export class MasterKeys {
  readonly #directory: PrivateDirectory;
  readonly #keyring: Keyring;
  readonly #scryptCost: number;

  constructor(directory: PrivateDirectory, keyring: Keyring, scryptCost: number) {
    this.#directory = directory;
    this.#keyring = keyring;
    this.#scryptCost = scryptCost;
  }

  async create(change: MasterChange): Promise<NewMaster> {
    if (change.to === "passphrase") return this.#createFromPassphrase(checkNewPassphrase(change.passphrase));
    const { key, bytes } = MasterKey.random();
    const header = { kind: change.to, id: key.id, check: key.check };
    if (change.to === "keyring") await this.#keyring.store(key.id, bytes);
    else await this.#directory.place(await this.#directory.stage(bytes), fileOf(key.id));
    return { header, key };
  }

  /** The key, as far as it can be had without asking a person. */
  async find(header: MasterHeader): Promise<MasterKey> {
    if (header.kind === "passphrase") throw vaultLocked();
    const bytes = await this.#read(header);
    if (bytes === undefined) throw missing(header);
    const key = new MasterKey(header.id, bytes);
    if (bytes.length !== keyBytes || !key.hasCheck(header.check)) {
      throw corrupted(`does not belong to the key in the ${header.kind}`);
    }
    return key;
  }

  async derive(header: MasterHeader & { kind: "passphrase" }, passphrase: string): Promise<MasterKey> {
    const key = new MasterKey(header.id, await deriveKey(passphrase, header.derivation));
    if (!key.hasCheck(header.check)) throw wrongPassphrase("the vault");
    return key;
  }

  /** Only for a key that nothing on the disk needs. */
  async remove({ kind, id }: Pick<MasterHeader, "kind" | "id">): Promise<void> {
    if (kind === "keyring") await this.#keyring.remove(id);
    if (kind === "keyfile") await this.#directory.remove(fileOf(id));
  }

  async #createFromPassphrase(passphrase: string): Promise<NewMaster> {
    const derivation = newDerivation(this.#scryptCost);
    const key = new MasterKey(newKeyId(), await deriveKey(passphrase, derivation));
    return { key, header: { kind: "passphrase", id: key.id, check: key.check, derivation } };
  }

  async #read({ kind, id }: MasterHeader): Promise<Buffer | undefined> {
    if (kind === "keyring") return this.#keyring.find(id);
    return (await this.#directory.read(fileOf(id), keyBytes))?.bytes;
  }
}

function missing({ kind, id }: MasterHeader): AgentBoxError {
  const where = kind === "keyring" ? "The keyring has no key" : `There is no key file ${fileOf(id)}`;
  return new AgentBoxError("vault.failed", `${where} for this vault.`, {
    hint:
      kind === "keyring"
        ? "Sign in as the user who has made it; without that key the values cannot be had."
        : "Put the file back, from a copy of the vault's directory; without it the values cannot be had.",
  });
}
