/**
 * The gate: the only way out of a box. Every connection arrives over the box's own link, so the box is known and
 * cannot be forged. Guarantees:
 * - No policy, no way out: a box the gate does not know, or whose policy is broken, reaches nothing.
 * - The name that was judged is the name that is dialed, and the address that was checked is the address that is
 *   connected to.
 * - Every decision is recorded once, and an error inside a decision is a denial.
 */
import type { OpenHost } from "../contract/network/host-totals.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { NewEgressRecord } from "../contract/network/egress.ts";
import type { NetworkPolicy } from "../contract/network/policy.ts";

/** One connection out of a box, after boxd has said what it is for; from here on the bytes are the program's own. */
export interface GateConnection {
  readonly socket: Duplex;
  /**
   * `tcp`: a program connected to a name and port. `proxy`: it speaks to us as to an HTTP proxy. `ssh-agent`: it asks
   * for a signature, and goes nowhere.
   */
  readonly via: "tcp" | "proxy" | "ssh-agent";
  /** For `tcp`: what the program meant. It comes from the box, so it is judged like any other input. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly program?: string | undefined;
}

export interface GateBox {
  readonly name: string;
  readonly incarnation: string;
  readonly projectDir?: string | undefined;
}

/** A destination that the policy leaves to a person. */
export interface ApprovalRequest {
  readonly box: GateBox;
  readonly host: string;
  readonly port: number;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly program?: string | undefined;
  /** The question is about using a secret there, in exactly this way. */
  readonly secret?: SecretQuestion | undefined;
}

export interface SecretQuestion {
  readonly name: string;
  /** Digest of the use. */
  readonly use: string;
  readonly sentence: string;
  /** Each asking is a question of its own, and a yes to it is neither shared nor remembered. */
  readonly isOnce?: boolean | undefined;
}

export interface GateListener {
  /** Once for each decision, when its connection or request is over (or was refused). */
  record(record: NewEgressRecord): void;
  /** Resolves to whether a person agreed; no answer in time is a no. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<boolean>;
}

/**
 * A host that is part of the gate itself, such as the model gateway. The request has been judged like any other; the
 * box is known from the link. The host answers, and ends what it began when the program goes away.
 */
export interface InternalHost {
  serve(box: GateBox, request: IncomingMessage, response: ServerResponse): void;
  /** A WebSocket; nothing has been answered yet. */
  upgrade(box: GateBox, request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

export interface Gate extends AsyncDisposable {
  /** Puts a policy in force, also on a running box: connections it no longer allows are closed. */
  setPolicy(box: GateBox, policy: NetworkPolicy): void;
  /** The box is over: its connections are closed and it is forgotten. */
  drop(box: string): void;
  serve(box: string, connection: GateConnection): void;
  /**
   * The secrets of a box changed: requests in progress with this one (with any, if none is named) end, and so does an
   * unread connection that now would have to be read. Later requests are decided anew anyway.
   */
  closeInjected(box: string, secret?: string): void;
  /** Connections that are open now; what has ended is in the records. */
  openHosts(box: string): readonly OpenHost[];
  /** Files that make programs in a box trust the gate's certificates, with the places where they look for them. */
  readonly trustFiles: readonly { readonly source: string; readonly target: string }[];
  /** Variables that point programs to the proxy and to the trust files. */
  readonly boxEnv: Readonly<Record<string, string>>;
}
