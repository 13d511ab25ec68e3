/**
 * The vault's file together with its master key: what is read is proven to be what was written, and every change is
 * made to the newest file there is, alone, and signed.
 */
import { KeyedMutex } from "../../base/mutex.ts";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../host/logger.ts";
import type { MasterChange } from "../../ports/vault.ts";
import {
  type MasterHeader,
  type SecretEntry,
  type VaultDocument,
  checkSignature,
  signDocument,
} from "./document.ts";
import type { MasterKey } from "./master-key.ts";
import type { MasterKeys, NewMaster } from "./master-keys.ts";
import { dropRevoked, isForgetting, rewrapEntry } from "./secret-entry.ts";
import type { VaultFile, VaultState } from "./vault-file.ts";

export interface Opened {
  readonly secrets: readonly SecretEntry[];
  readonly key: MasterKey;
}

export class UnlockedFile {
  readonly #file: VaultFile;
  readonly #masters: MasterKeys;
  readonly #logger: Logger;
  readonly #proven = new WeakSet<VaultDocument>();
  readonly #turns = new KeyedMutex();
  #key: MasterKey | undefined;

  constructor(file: VaultFile, masters: MasterKeys, logger: Logger) {
    this.#file = file;
    this.#masters = masters;
    this.#logger = logger;
  }

  /** As it is in the file; proven only when the key is at hand. For what is no secret. */
  async look(): Promise<{ readonly document: VaultDocument | undefined; readonly hasKey: boolean }> {
    const { document } = await this.#file.read();
    const hasKey = document !== undefined && this.#key?.id === document.master.id;
    if (hasKey) this.#prove(document, this.#key!);
    return { document, hasKey };
  }

  /** Undefined for a vault that has never been written. */
  async open(): Promise<Opened | undefined> {
    const { document } = await this.#file.read();
    return document && { secrets: document.secrets, key: await this.#keyOf(document) };
  }

  /** One at a time: each attempt takes a lot of memory. */
  unlock(passphrase: string): Promise<void> {
    return this.#turns.run("unlock", async () => {
      const { document } = await this.#file.read();
      if (document?.master.kind !== "passphrase") throw noPassphrase();
      const key = await this.#masters.derive(document.master, passphrase);
      this.#prove(document, key);
      this.#hold(key);
    });
  }

  lock(): void {
    this.#key?.forget();
    this.#key = undefined;
  }

  /** The return value of `apply` is the new document. Expired versions go with every change. */
  change<T>(
    nowMs: number,
    apply: (opened: Opened) => { readonly secrets: readonly SecretEntry[]; readonly result: T },
  ): Promise<T> {
    return this.#alone(async (state) => {
      const { document } = state;
      const before = dropRevoked(document?.secrets ?? [], nowMs);
      const make = async (master: NewMaster): Promise<T> => {
        const { secrets, result } = apply({ secrets: before, key: master.key });
        await this.#write(state, master, secrets);
        await this.#tidy(master.header);
        return result;
      };
      if (document) return make({ header: document.master, key: await this.#keyOf(document) });
      return this.#withNewMaster({ to: "keyfile" }, make);
    });
  }

  rekey(change: MasterChange): Promise<void> {
    return this.#alone(async (state) => {
      const before = state.document;
      const old = before && (await this.#keyOf(before));
      const replaces = before && { kind: before.master.kind, id: before.master.id };
      await this.#withNewMaster(change, ({ header, key }) => {
        const secrets = old ? before.secrets.map((entry) => rewrapEntry(entry, old, key)) : [];
        return this.#write(state, { header: { ...header, replaces }, key }, secrets);
      });
      if (replaces) await this.#retire(replaces);
    });
  }

  /** The new key is held once it is in use; when that fails, it is nowhere. */
  async #withNewMaster<T>(change: MasterChange, use: (master: NewMaster) => Promise<T>): Promise<T> {
    const master = await this.#masters.create(change);
    try {
      const result = await use(master);
      this.#hold(master.key);
      return result;
    } catch (error) {
      // The file may be in place already when the disk fails, so it is asked what it needs.
      await this.#retire(master.header);
      throw error;
    }
  }

  async #retire(unused: Pick<MasterHeader, "kind" | "id">): Promise<void> {
    try {
      if (!(await this.#file.needsKey(unused.id))) await this.#masters.remove(unused);
    } catch (error) {
      this.#logger.warn({ error: messageOf(error) }, "a master key of no use could not be removed");
    }
  }

  async #tidy({ replaces }: MasterHeader): Promise<void> {
    try {
      await this.#file.tidy();
      // A rekey that was interrupted may have left it; to ask the keyring every time would be too much.
      if (replaces?.kind === "keyfile") await this.#retire(replaces);
    } catch (error) {
      this.#logger.warn({ error: messageOf(error) }, "the vault's directory could not be tidied");
    }
  }

  #alone<T>(task: (state: VaultState) => Promise<T>): Promise<T> {
    return this.#turns.run("write", () => this.#file.locked(async () => task(await this.#file.read())));
  }

  async #write(
    state: VaultState,
    { header, key }: NewMaster,
    secrets: readonly SecretEntry[],
  ): Promise<void> {
    const before = state.document;
    const next = signDocument(
      { format: 1, generation: (before?.generation ?? 0) + 1, master: header, secrets: [...secrets] },
      key,
    );
    const isLess = before !== undefined && isForgetting(before.secrets, secrets);
    await this.#file.write(state, next, isLess || before?.master.id !== header.id);
  }

  async #keyOf(document: VaultDocument): Promise<MasterKey> {
    const { id } = document.master;
    if (this.#key?.id !== id) {
      const found = await this.#masters.find(document.master);
      // Another caller may have found it meanwhile, and be using it.
      if (this.#key?.id !== id) this.#hold(found);
    }
    this.#prove(document, this.#key!);
    return this.#key!;
  }

  #prove(document: VaultDocument, key: MasterKey): void {
    if (this.#proven.has(document)) return;
    checkSignature(document, key);
    this.#proven.add(document);
  }

  #hold(key: MasterKey): void {
    if (this.#key !== key) this.lock();
    this.#key = key;
  }
}

export const noPassphrase = (): AgentBoxError =>
  new AgentBoxError("input.invalid", "The vault has no passphrase, so it is neither locked nor unlocked.", {
    hint: "To give it one, run: agentbox vault rekey --to passphrase",
  });
