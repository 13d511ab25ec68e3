/**
 * Keys of the host that sign for a box over ssh. Guarantees:
 * - A key never leaves the host's agent, and a box can list and sign, nothing else.
 * - A signature is made only for a session with a bound host whose host key this host knows, by a grant.
 */
import type { Duplex } from "node:stream";
import type { SecretBinding, SshDestination } from "../contract/secret/binding.ts";
import type { GateBox } from "./gate.ts";

export interface SshKeysListener {
  /** Before each signature. `destination` is the bound server the session is with. */
  authorise(
    box: GateBox,
    binding: SecretBinding,
    destination: SshDestination,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** The private key, in a form that ssh-add reads; a copy, because it is wiped after use. */
  reveal(secret: string): Promise<Buffer>;
  /** Once for each signature that was made or refused. */
  signed(
    box: GateBox,
    binding: SecretBinding,
    destination: SshDestination | undefined,
    refusal?: string,
  ): void;
}

export interface SshKeys extends AsyncDisposable {
  /** The keys a box may use; an empty list ends what it has. */
  setBox(box: GateBox, bindings: readonly SecretBinding[]): void;
  drop(box: string): void;
  /** The known_hosts entries of this host for the bound servers, so that the box can know them too. */
  knownHosts(bindings: readonly SecretBinding[]): Promise<string>;
  /** One connection of a program in the box to its agent socket. */
  serve(box: string, socket: Duplex): void;
}
