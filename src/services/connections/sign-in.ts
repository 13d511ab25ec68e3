/** One sign-in, from the moment a person is asked until it has ended, which it does once. */
import { AgentBoxError } from "../../base/errors.ts";
import type { ConnectionState } from "../../contract/secret/connection.ts";
import type { CallbackOutcome } from "./callback-listener.ts";
import { failureOf } from "./failure.ts";

type EndState = Exclude<ConnectionState["state"], "waiting">;

export class SignIn {
  #state: ConnectionState;
  #close: () => void = () => undefined;
  readonly #onEnd: (state: ConnectionState) => void;

  constructor(id: string, secret: string, onEnd: (state: ConnectionState) => void) {
    this.#state = { id, secret, state: "waiting", expiresAtMs: 0 };
    this.#onEnd = onEnd;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get isWaiting(): boolean {
    return this.#state.state === "waiting";
  }

  /** The instructions for the person, and a way to give up. */
  show(facts: Pick<ConnectionState, "url" | "userCode" | "expiresAtMs">, close: () => void): void {
    this.#state = { ...this.#state, ...facts };
    this.#close = close;
    // It can be over before it was shown.
    if (!this.isWaiting) close();
  }

  end(state: EndState, message: string): void {
    if (!this.isWaiting) return;
    this.#state = { ...this.#state, state, message };
    this.#close();
    this.#onEnd(this.#state);
  }

  /** Obtains and keeps; a sign-in that was given up meanwhile keeps nothing. */
  async settle<T>(obtain: () => Promise<T>, keep: (value: T) => Promise<void>): Promise<CallbackOutcome> {
    try {
      const value = await obtain();
      if (this.isWaiting) {
        await keep(value);
        this.end("connected", `The vault now has "${this.#state.secret}".`);
      }
    } catch (error) {
      const { state, message } = endOf(error);
      this.end(state, message);
    }
    return { isConnected: this.#state.state === "connected", message: this.#state.message ?? "" };
  }
}

function endOf(error: unknown): { state: EndState; message: string } {
  if (error instanceof AgentBoxError) return { state: "failed", message: error.message };
  const { code, sentence } = failureOf(error);
  switch (code) {
    case "expired_token":
      return { state: "expired", message: "No person agreed in time." };
    case "access_denied":
      return { state: "failed", message: "The person said no, or may not say yes." };
    case undefined:
    default:
      return { state: "failed", message: sentence };
  }
}
