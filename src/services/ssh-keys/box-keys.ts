/**
 * One box's keys: nothing runs before the box asks for the first time, an agent that died is started anew, and with
 * `end` every connection and the agent are over.
 */
import type { Duplex } from "node:stream";
import type { SecretBinding } from "../../contract/secret/binding.ts";
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import type { Logger } from "../../host/logger.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { SshKeysListener } from "../../ports/ssh-keys.ts";
import { Conversation, type ConversationKeys } from "./conversation.ts";
import { KeyRing, reasonOf } from "./key-ring.ts";
import type { SshKeysLimits } from "./limits.ts";

export interface BoxKeysOptions {
  readonly box: GateBox;
  readonly bindings: readonly SecretBinding[];
  readonly listener: SshKeysListener;
  readonly knownHostsFiles: readonly string[];
  /** A directory that is there for one agent, and a new one each time. */
  readonly newDir: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: SshKeysLimits;
  readonly searchPath?: string | undefined;
}

export class BoxKeys {
  readonly #options: BoxKeysOptions;
  readonly #open = new Set<Duplex>();
  #ring: Promise<KeyRing> | undefined;
  #triedAtMs = 0;
  #isEnded = false;

  constructor(options: BoxKeysOptions) {
    this.#options = options;
  }

  serve(socket: Duplex): void {
    const { box, listener, clock, limits } = this.#options;
    socket.on("error", () => undefined);
    if (this.#isEnded || this.#open.size >= limits.connectionsPerBox) {
      socket.destroy();
      return;
    }
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    void new Conversation({ box, socket, listener, clock, limits, open: () => this.#keys() });
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    for (const socket of this.#open) socket.destroy();
    await this.#drop();
  }

  async #keys(): Promise<ConversationKeys> {
    const ring = await this.#currentRing();
    try {
      return { channel: await ring.connect(), find: (key) => ring.find(key) };
    } catch {
      // It died since it was started.
      if ((await this.#ring?.catch(() => undefined)) === ring) await this.#drop();
      const next = await this.#currentRing();
      return { channel: await next.connect(), find: (key) => next.find(key) };
    }
  }

  async #currentRing(): Promise<KeyRing> {
    const { clock, limits } = this.#options;
    const current = this.#ring;
    const ring = await current?.catch(() => undefined);
    const isRested = clock.monotonicMs() - this.#triedAtMs >= limits.retryMs;
    const isFree = ring === undefined || this.#open.size <= 1;
    // An incomplete ring is made again when it is not in use: the vault may be open by now, or a server known.
    if (current !== undefined && current === this.#ring && !ring?.isWhole && isRested && isFree)
      await this.#drop();
    if (this.#isEnded) throw new AgentBoxError("secret.unavailable", "The box has ended.");
    if (this.#ring === undefined) {
      this.#triedAtMs = clock.monotonicMs();
      this.#ring = this.#openRing();
    }
    return this.#ring;
  }

  async #openRing(): Promise<KeyRing> {
    const { box, bindings, listener, logger } = this.#options;
    try {
      return await KeyRing.open({
        ...this.#options,
        dir: this.#options.newDir(),
        reveal: (secret) => listener.reveal(secret),
        refused: (binding, destination, reason) => listener.signed(box, binding, destination, reason),
      });
    } catch (error) {
      const reason = reasonOf(error);
      logger.warn({ box: box.name, error: reason }, "the keys of a box could not be loaded");
      for (const binding of bindings) listener.signed(box, binding, undefined, reason);
      throw error;
    }
  }

  async #drop(): Promise<void> {
    const ring = this.#ring;
    this.#ring = undefined;
    await ring?.then(
      (opened) => opened[Symbol.asyncDispose](),
      () => undefined,
    );
  }
}
