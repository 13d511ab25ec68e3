import { AgentBoxError } from "../base/errors.ts";

/** How the client reaches a daemon. The CLI uses a unix socket; a browser brings its own. */
export interface Answer {
  readonly status: number;
  /** Of the daemon, where it says so. */
  readonly version?: string | undefined;
  text(): Promise<string>;
  /** The body piece by piece, for logs and event streams. */
  chunks(): AsyncIterable<Uint8Array>;
}

export interface Call {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A two-way stream: text is control, binary is data whose first byte is the channel. */
export interface Stream {
  sendText(text: string): void;
  /** False when the other side is slow: wait for `onDrain`. */
  sendData(chunk: Uint8Array): boolean;
  /** No more data from this side: the command in the box reads the end of its input. */
  endInput(): void;
  onText(listener: (text: string) => void): void;
  onData(listener: (chunk: Uint8Array, channel: number) => void): void;
  onDrain(listener: () => void): void;
  onClose(listener: (error?: Error) => void): void;
  pause(): void;
  resume(): void;
  close(): void;
}

export interface Transport {
  call(call: Call): Promise<Answer>;
  stream(path: string): Promise<Stream>;
}

export function errorFromAnswer(text: string): AgentBoxError {
  try {
    return AgentBoxError.fromBody((JSON.parse(text) as { error?: unknown }).error);
  } catch {
    return new AgentBoxError("internal.unexpected", "The daemon's answer was not understood.");
  }
}
