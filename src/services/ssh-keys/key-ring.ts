/**
 * The keys of one box, loaded into an ssh-agent of its own. Guarantees that every key in it may only sign in to the
 * servers it is bound to whose host keys are known; what cannot be limited so is not loaded, and that is recorded.
 */
import { AgentBoxError, isAgentBoxError, messageOf } from "../../base/errors.ts";
import type { SecretBinding, SshDestination } from "../../contract/secret/binding.ts";
import type { AgentChannel } from "./agent-channel.ts";
import { AgentProcess, type AgentProcessOptions } from "./agent-process.ts";
import { findServers } from "./bound-servers.ts";
import { destination, unknownServer } from "./host-keys.ts";
import type { KnownServer } from "./sign-decision.ts";

export interface KeyRingOptions extends AgentProcessOptions {
  readonly bindings: readonly SecretBinding[];
  readonly knownHostsFiles: readonly string[];
  readonly reveal: (secret: string) => Promise<Buffer>;
  readonly refused: (binding: SecretBinding, destination: SshDestination | undefined, reason: string) => void;
}

/** One key, and every destination that a binding gives it. */
export interface RingKey {
  /** The name where no destination is known: the first that has the key. */
  readonly binding: SecretBinding;
  readonly servers: readonly KnownServer[];
}

export class KeyRing implements AsyncDisposable {
  readonly #options: KeyRingOptions;
  readonly #agent: AgentProcess;
  /** By public key, as base64. */
  readonly #keys = new Map<string, RingKey>();
  #isWhole = true;
  #hasTwins = false;

  private constructor(options: KeyRingOptions, agent: AgentProcess) {
    this.#options = options;
    this.#agent = agent;
  }

  static async open(options: KeyRingOptions): Promise<KeyRing> {
    const ring = new KeyRing(options, await AgentProcess.start(options));
    try {
      for (const [secret, bindings] of bySecret(options.bindings)) await ring.#tryLoad(secret, bindings);
      // SECURITY: the same key a second time has replaced the limits of the first one in the agent.
      if (ring.#hasTwins) throw twinKeys();
      return ring;
    } catch (error) {
      await ring[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Nothing that was asked for is missing, so there is nothing to try again. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  find(key: Buffer): RingKey | undefined {
    return this.#keys.get(key.toString("base64"));
  }

  connect(): Promise<AgentChannel> {
    return this.#agent.connect();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent[Symbol.asyncDispose]();
  }

  async #tryLoad(secret: string, bindings: readonly SecretBinding[]): Promise<void> {
    try {
      await this.#load(secret, bindings);
    } catch (error) {
      for (const binding of bindings) this.#refuse(binding, undefined, error);
    }
  }

  async #load(secret: string, bindings: readonly SecretBinding[]): Promise<void> {
    const { known, unknown, lines } = await findServers(bindings, this.#options.knownHostsFiles);
    for (const { binding, destination } of unknown)
      this.#refuse(binding, destination, unknownServer(destination));
    if (known.length === 0) return;
    const destinations = new Set(known.map((server) => destination(server.destination)));
    await this.#agent.add(await this.#options.reveal(secret), [...destinations], lines);
    // The public key is the one that the agent has now and did not have before.
    const listed = (await this.#agent.list()).map((key) => key.toString("base64"));
    const added = listed.find((key) => !this.#keys.has(key));
    if (added === undefined) this.#hasTwins = true;
    else this.#keys.set(added, { binding: bindings[0]!, servers: known });
  }

  #refuse(binding: SecretBinding, destination: SshDestination | undefined, error: unknown): void {
    this.#isWhole = false;
    this.#options.refused(binding, destination, reasonOf(error));
  }
}

const twinKeys = (): AgentBoxError =>
  new AgentBoxError("secret.unavailable", "Two secrets of the box are the same key.", {
    hint: "Bind one of them to all the servers.",
  });

export const reasonOf = (error: unknown): string => {
  const hint = isAgentBoxError(error) ? error.hint : undefined;
  return hint === undefined ? messageOf(error) : `${messageOf(error)} ${hint}`;
};

function bySecret(bindings: readonly SecretBinding[]): ReadonlyMap<string, readonly SecretBinding[]> {
  const groups = new Map<string, SecretBinding[]>();
  for (const binding of bindings)
    groups.set(binding.secret, [...(groups.get(binding.secret) ?? []), binding]);
  return groups;
}
