import { AgentBoxError, isAgentBoxError, toAgentBoxError } from "../../../src/base/errors.ts";
import type { Stream } from "../../../src/client/transport.ts";
import type { AttachRequest, StreamAnswer } from "../../../src/contract/api/schemas.ts";
import { keyCount } from "./key-sequences.ts";

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export type ConnectionState =
  | { readonly phase: "connecting" }
  | { readonly phase: "live" }
  | { readonly phase: "lost" }
  | { readonly phase: "ended"; readonly exitCode: number | null; readonly signal: string | null }
  /** Trying again would give the same answer. */
  | { readonly phase: "refused"; readonly error: AgentBoxError };

export interface ConnectionEvents {
  /** The size to ask for, at the moment of asking. */
  size(): Size;
  state(state: ConnectionState): void;
  /** A new stream: what is on the screen is about to be replaced by what is there. */
  began(stream: Stream): void;
  sized(size: Size): void;
  data(chunk: Uint8Array): void;
  /** Keys that were typed while they could not be sent, so far. */
  dropped(keys: number): void;
}

interface Options {
  readonly isReadOnly: boolean;
  readonly attach: (request: AttachRequest) => Promise<Stream>;
  readonly events: ConnectionEvents;
}

const firstRetryMs = 250;
const lastRetryMs = 5_000;
/** A large paste is cut: the daemon refuses messages that are too long. */
const maxMessageBytes = 64 * 1024;
const encoder = new TextEncoder();

/**
 * One viewer's connection to a session. A lost connection is tried again until it is closed; keys typed meanwhile are dropped
 * and counted, never sent later: the screen they were meant for is no longer there.
 */
export class SessionConnection {
  readonly #options: Options;
  #stream: Stream | undefined;
  #isLive = false;
  #isClosed = false;
  #dropped = 0;
  #retryMs = firstRetryMs;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: Options) {
    this.#options = options;
    options.events.state({ phase: "connecting" });
    void this.#connect();
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  type(text: string): void {
    if (this.#options.isReadOnly) return;
    if (this.#isLive) this.#send(encoder.encode(text));
    else this.#drop(keyCount(text));
  }

  /** Mouse reports in the old form, which is not text. */
  sendBytes(bytes: Uint8Array): void {
    if (this.#isLive && !this.#options.isReadOnly) this.#stream?.sendData(bytes);
  }

  resize(size: Size): void {
    if (this.#isLive && !this.#options.isReadOnly)
      this.#stream?.sendText(JSON.stringify({ type: "resize", ...size }));
  }

  forgetDropped(): void {
    this.#dropped = 0;
    this.#options.events.dropped(0);
  }

  /** Tries at once instead of at the next turn. */
  retry(): void {
    if (this.#isClosed || this.#stream) return;
    clearTimeout(this.#timer);
    this.#retryMs = firstRetryMs;
    this.#options.events.state({ phase: "connecting" });
    void this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#isLive = false;
    clearTimeout(this.#timer);
    this.#stream?.close();
  }

  #send(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += maxMessageBytes)
      this.#stream?.sendData(bytes.subarray(at, at + maxMessageBytes));
  }

  #drop(keys: number): void {
    this.#dropped += keys;
    this.#options.events.dropped(this.#dropped);
  }

  async #connect(): Promise<void> {
    const { attach, events, isReadOnly } = this.#options;
    let stream: Stream;
    try {
      // SECURITY: this terminal answers nothing by itself; see person-input.ts. The box answers its programs.
      stream = await attach({ ...events.size(), readOnly: isReadOnly, answers: false });
    } catch (error) {
      return this.#failed(toAgentBoxError(error));
    }
    if (this.#isClosed) return stream.close();
    this.#stream = stream;
    stream.onText((text) => this.#stream === stream && this.#answered(JSON.parse(text) as StreamAnswer));
    stream.onData((chunk) => {
      if (this.#stream === stream) events.data(chunk);
    });
    stream.onClose(() => {
      if (this.#stream === stream) this.#failed();
    });
    events.began(stream);
  }

  #answered(answer: StreamAnswer): void {
    const { events } = this.#options;
    if (answer.type === "started") {
      this.#isLive = true;
      this.#retryMs = firstRetryMs;
      events.state({ phase: "live" });
    } else if (answer.type === "size") events.sized({ cols: answer.cols, rows: answer.rows });
    else if (answer.type === "exit")
      this.#over({ phase: "ended", exitCode: answer.code, signal: answer.signal });
    else if (answer.type === "error") this.#failed(AgentBoxError.fromBody(answer.error));
  }

  #over(state: ConnectionState): void {
    this.#isLive = false;
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.close();
    this.#options.events.state(state);
  }

  #failed(error?: AgentBoxError): void {
    if (this.#isClosed) return;
    if (isAgentBoxError(error) && !error.isRetryable) return this.#over({ phase: "refused", error });
    this.#over({ phase: "lost" });
    this.#timer = setTimeout(() => {
      this.#options.events.state({ phase: "connecting" });
      void this.#connect();
    }, this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs);
  }
}
