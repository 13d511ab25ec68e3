/**
 * The vault's file. A reader sees it as it was before or after a change; a writer has it alone, in this process and in
 * all others; the file from before the last change is kept and takes over when the newer one was not written to its end.
 */
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { lockFile } from "../../host/file-lock.ts";
import type { Logger } from "../../host/logger.ts";
import { type VaultDocument, corrupted, formatDocument, parseDocument } from "./document.ts";
import type { PrivateDirectory } from "./private-directory.ts";

const current = "vault.json";
const previous = "vault.json.previous";
const damaged = "vault.json.damaged";
const maxFileBytes = 64 << 20;
const lockWaitSeconds = 30;

/** The steps of a write; a process may end before each of them. */
export type WriteStep = "stage" | "keep" | "place" | "forget" | "tidy";

export interface VaultState {
  /** Undefined for a vault that has never been written. */
  readonly document: VaultDocument | undefined;
  /** The file itself is missing or half-written, and this is the one before. */
  readonly isRecovered: boolean;
}

export class VaultFile {
  readonly #directory: PrivateDirectory;
  readonly #logger: Logger;
  readonly #beforeStep: (step: WriteStep) => void;
  #seen: { readonly stamp: string; readonly state: VaultState } | undefined;

  constructor(directory: PrivateDirectory, logger: Logger, beforeStep: (step: WriteStep) => void) {
    this.#directory = directory;
    this.#logger = logger;
    this.#beforeStep = beforeStep;
  }

  async read(): Promise<VaultState> {
    if (!(await this.#directory.check())) return { document: undefined, isRecovered: false };
    if (this.#seen && this.#seen.stamp === (await this.#directory.stampOf(current))) return this.#seen.state;
    const found = await this.#directory.read(current, maxFileBytes);
    const document = found && parseDocument(found.bytes);
    const state = document ? { document, isRecovered: false } : await this.#recover(found !== undefined);
    this.#seen = found && { stamp: found.stamp, state };
    return state;
  }

  /** Runs the task while no other process writes. */
  async locked<T>(task: () => Promise<T>): Promise<T> {
    await this.#directory.ensure();
    const file = await this.#directory.openLockFile("vault.lock");
    try {
      const isOurs = await lockFile(file, lockWaitSeconds).catch((error: unknown) => {
        throw new AgentBoxError("vault.failed", `The vault's lock cannot be taken: ${messageOf(error)}.`, {
          hint: "The program flock is needed; on Debian and Ubuntu it is in the package util-linux.",
          cause: error,
        });
      });
      if (isOurs) return await task();
    } finally {
      await file.close();
    }
    throw new AgentBoxError("vault.failed", "Another process has been writing the vault for too long.", {
      hint: "Nothing was changed; find out what hangs, and try again.",
    });
  }

  /** Only under the lock. `isForgetting`: something is gone for good, so it is not kept in the file before either. */
  async write(before: VaultState, document: VaultDocument, isForgetting: boolean): Promise<void> {
    const bytes = formatDocument(document);
    if (bytes.length > maxFileBytes) {
      throw new AgentBoxError("vault.failed", "The vault is full.", {
        hint: "Remove secrets it does not need.",
      });
    }
    this.#beforeStep("stage");
    const staged = await this.#directory.stage(bytes);
    try {
      this.#beforeStep("keep");
      if (await this.#directory.stampOf(current)) {
        await this.#directory.keep(current, before.isRecovered ? damaged : previous);
      }
      this.#beforeStep("place");
      await this.#directory.place(staged, current);
    } catch (error) {
      await this.#directory.remove(staged);
      throw error;
    }
    if (isForgetting) await this.#forget(bytes);
  }

  /** The change is made already; what could not be forgotten now is forgotten by the next change. */
  async #forget(bytes: Buffer): Promise<void> {
    try {
      this.#beforeStep("forget");
      await this.#directory.place(await this.#directory.stage(bytes), previous);
    } catch (error) {
      this.#logger.warn({ error: messageOf(error) }, "the vault's previous file could not be replaced");
    }
  }

  /** Removes what an interrupted write has left; only under the lock. */
  async tidy(): Promise<void> {
    this.#beforeStep("tidy");
    await this.#directory.removeLeftovers();
  }

  /** Whether a file on the disk, the newest or the one before, needs this key. */
  async needsKey(id: string): Promise<boolean> {
    const documents = [await this.#parse(current), await this.#parse(previous)];
    return documents.some((document) => document?.master.id === id);
  }

  async #parse(name: string): Promise<VaultDocument | undefined> {
    const found = await this.#directory.read(name, maxFileBytes);
    return found && parseDocument(found.bytes);
  }

  async #recover(isDamaged: boolean): Promise<VaultState> {
    const document = await this.#parse(previous);
    if (document === undefined) {
      if (isDamaged) throw corrupted("was not written to its end, and there is no earlier one");
      return { document: undefined, isRecovered: false };
    }
    const { generation } = document;
    this.#logger.warn(
      { file: `${this.#directory.path}/${current}`, generation },
      "the vault's file is not whole; the one from before the last change is used",
    );
    return { document, isRecovered: true };
  }
}
