/**
 * The host's end of the link. The host listens on one socket per box; boxd dials it. Every message is checked: a box
 * that breaks the protocol loses the connection, and that is all.
 */
import type { BoxOwner, MainSession } from "../contract/box.ts";
import type {
  BoxdConfig,
  Health,
  HeldSecrets,
  ServiceStatus,
  SessionStart,
  SessionStatus,
  StreamInput,
  StreamOp,
  StreamOutput,
} from "../contract/link/messages.ts";
import type { GateConnection } from "./gate.ts";

/**
 * One stream into a box. Data flows with back pressure in both directions. Nothing is delivered before the turn
 * after the first listener was added, so all listeners that are added together miss nothing.
 */
export interface LinkStream {
  onMessage(listener: (message: StreamOutput) => void): void;
  /** `channel` is 1 for stdout (or file contents), 2 for stderr. */
  onData(listener: (chunk: Uint8Array, channel: 1 | 2) => void): void;
  /** Once, after the last message. `error` says why, when it did not end by itself. */
  onClose(listener: (error?: Error) => void): void;
  /** False when the other side is slow: wait for `drain`. */
  write(chunk: Uint8Array): boolean;
  onDrain(listener: () => void): void;
  send(message: StreamInput): void;
  /** No more data from this side. */
  endInput(): void;
  /** Stops reading from the box until `resume`. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface LinkListener {
  connected?(boot: string, isReconnect: boolean): void;
  lost?(): void;
  violated?(reason: string): void;
  /** A program in the box wants out. Without a listener the connection is closed. */
  gate?(connection: GateConnection): void;
  health?(health: Health): void;
  sessionEnded?(session: SessionStatus): void;
  serviceChanged?(service: ServiceStatus): void;
}

export interface BoxLink extends AsyncDisposable {
  readonly isConnected: boolean;
  readonly lastHealth: Health | undefined;
  /** Paths of promised artifacts that boxd did not find; it starts nothing then. */
  readonly missing: readonly string[];
  /** Resolves at the first control connection; rejects with box.unreachable after the time-out. */
  waitConnected(timeoutMs: number): Promise<void>;
  /** Opens a stream: asks over the control connection, waits until boxd dials back with the one-time id. */
  open(op: StreamOp): Promise<LinkStream>;
  startSession(
    session: string,
    spec: MainSession,
    more?: Omit<SessionStart, "session" | "spec">,
  ): Promise<SessionStatus>;
  /** Types a text into a session. */
  inputSession(session: string, text: string): Promise<void>;
  signalSession(session: string, signal: string): Promise<void>;
  health(): Promise<Health>;
  /** Ends every session and service in the box, then boxd itself. */
  shutdown(graceMs: number): Promise<void>;
  /** A paused box is silent; while it is paused, silence does not count as lost. */
  setPaused(isPaused: boolean): void;
  /** Hands over the secrets that the box holds; what it starts from then on has them, waiting services included. */
  putSecrets(secrets: HeldSecrets): Promise<void>;
  /** Ends the boot, once: from now on the box takes no more secrets. Sealing twice does nothing. */
  seal(): Promise<Health>;
  /** From now on boxd stands for the names of the policy on these ports. */
  setPorts(ports: readonly number[]): Promise<void>;
}

export interface Links {
  /** Listens on the box's socket and writes box.json beside it. */
  listen(options: {
    readonly linkDir: string;
    readonly owner: BoxOwner;
    readonly config: BoxdConfig;
    readonly listener: LinkListener;
  }): Promise<BoxLink>;
}
