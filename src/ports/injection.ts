/**
 * Puts secrets into requests at the gate. Guarantees:
 * - A value goes into a request only for a bound scheme, host, port, method and path, and only by a grant.
 * - A placeholder that cannot be replaced is a refusal, never a request without a credential.
 * - What a box sends as a credential of its own to a managed host is refused.
 * - What a server answers is passed on without the value, however it is cut into pieces.
 */
import type { Transform } from "node:stream";
import type { SecretBinding, SecretDestination } from "../contract/secret/binding.ts";
import type { SecretDenial } from "../contract/network/policy.ts";
import type { GateBox } from "./gate.ts";
import type { SecretValue } from "./vault.ts";

export interface OutgoingRequest {
  readonly scheme: "https" | "http";
  readonly host: string;
  readonly port: number;
  readonly method: string;
  /** With the query, as it will be sent. */
  readonly path: string;
  /** Name, value, name, value; without Host and what concerns the connection. */
  readonly headers: readonly string[];
  readonly hasBody: boolean;
  readonly isUpgrade: boolean;
}

/** The stream that an answer passes through on its way to the box. */
export interface AnswerGuard {
  /**
   * The head as the box may see it, and what the body goes through; `undefined` where the body is in an encoding that
   * cannot be read, and nothing of it may pass. Called again for the headers of early hints and for trailers.
   */
  open(
    status: number,
    rawHeaders: readonly string[],
  ): { readonly headers: string[]; readonly body: Transform | undefined } | undefined;
  /** For what follows an upgrade: the same number of bytes, without the value. */
  stream(): Transform;
}

interface SecretRefusal {
  readonly outcome: "refuse";
  readonly reason: SecretDenial;
  readonly secret?: string | undefined;
  /** One sentence and a hint, for the program and for the audit. */
  readonly message: string;
  readonly hint: string;
}

export type Prepared =
  | SecretRefusal
  /** Nothing of ours goes in. `body` fails with `secret.misplaced` when a placeholder passes. */
  | { readonly outcome: "pass"; readonly body: Transform | undefined }
  | {
      readonly outcome: "inject";
      readonly secret: string;
      readonly headers: readonly string[];
      readonly path: string;
      readonly body: Transform | undefined;
      /** Where the head depends on the whole body: it is held, up to `maxHeldBytes`, and then this gives the headers. */
      readonly finish?: ((body: Buffer) => readonly string[]) | undefined;
      /** The refusal when the body has a second word on the method; undefined: it may pass. */
      readonly overridden?: SecretRefusal | undefined;
      readonly answer: AnswerGuard;
    };

export const maxHeldBytes = 8 * 1024 * 1024;

/** The injection's questions to the keeper of secrets and grants. */
export interface InjectionListener {
  /** Whether the box may use it now. It asks a person where there is no decision yet; no answer is a no. */
  authorise(
    box: GateBox,
    binding: SecretBinding,
    destination: SecretDestination,
    signal: AbortSignal,
  ): boolean | Promise<boolean>;
  /** The value to put in, refreshed where it must be; fails with a code and never with a value in the message. */
  reveal(secret: string): Promise<SecretValue>;
  /** Every value of it that may still be valid, to be recognised in answers. */
  revealAll(secret: string): Promise<readonly SecretValue[]>;
}

export interface Injection {
  /** Puts the secrets of a box in force; a box that is not known has none. */
  setBox(box: GateBox, bindings: readonly SecretBinding[]): void;
  drop(box: string): void;
  /** Whether requests to this destination must be read, because a secret of the box is bound to it. */
  manages(box: GateBox, host: string, port: number): boolean;
  /**
   * Decides about one request whose head has been read and judged. Never throws: a failure is a refusal. It ends when
   * the signal does, because then the program has gone.
   */
  prepare(box: GateBox, request: OutgoingRequest, signal: AbortSignal): Prepared | Promise<Prepared>;
  /** The environment variables that programs of a box find in place of secrets. */
  placeholders(box: GateBox, bindings: readonly SecretBinding[]): Readonly<Record<string, string>>;
}
