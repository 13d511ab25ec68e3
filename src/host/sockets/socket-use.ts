/**
 * The rule for using a connection to a server again (docs/decisions/0027). It is decided from the bytes that passed,
 * independently of the HTTP library, and for every connection that may carry more than one request.
 */
import type { Duplex } from "node:stream";
import { WireMessage } from "./wire-message.ts";

/** One request and its answer, as they stood on the wire. */
export interface SocketUse {
  readonly sent: WireMessage;
  readonly received: WireMessage;
  /** The answer was over before the request was: the server may still wait for the rest, or take it for a request. */
  readonly wasAnsweredEarly: boolean;
}

/**
 * SECURITY: a connection that owes bytes takes the next request's head for them, and the server then runs its body as a
 * request that was never judged. One that has bytes left gives them as the answer to a request that is not theirs.
 */
export const mayReuseSocket = ({ sent, received, wasAnsweredEarly }: SocketUse): boolean =>
  sent.isWhole && received.isWhole && !sent.isLast && !received.isLast && !wasAnsweredEarly;

/** Looks at what passes a socket between a server and us. */
export class WatchedSocket {
  readonly #socket: Duplex;
  readonly #onUnasked: () => void;
  #use: (SocketUse & { wasAnsweredEarly: boolean }) | undefined;

  /** `onUnasked`: the server spoke although it was asked nothing. */
  constructor(socket: Duplex, onUnasked: () => void) {
    this.#socket = socket;
    this.#onUnasked = onUnasked;
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = (...args: unknown[]): boolean => {
      this.#wrote(args[0], args[1]);
      return write(...args);
    };
    socket.on("data", this.#arrived);
  }

  /** A request is over: whether the next one may be sent here. */
  release(): boolean {
    const use = this.#use;
    this.#use = undefined;
    // A request that was given up before its first byte has left nothing behind.
    return (
      !this.#socket.destroyed &&
      this.#socket.readableLength === 0 &&
      (use === undefined || mayReuseSocket(use))
    );
  }

  /** The bytes are no longer HTTP, so they are no longer looked at. */
  leave(): void {
    Reflect.deleteProperty(this.#socket, "write");
    this.#socket.off("data", this.#arrived);
  }

  #wrote(chunk: unknown, encoding: unknown): void {
    this.#use ??= begin();
    if (typeof chunk === "string")
      this.#use.sent.read(
        Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8"),
      );
    else if (chunk instanceof Uint8Array) this.#use.sent.read(chunk);
  }

  readonly #arrived = (chunk: Uint8Array): void => {
    // SECURITY: an answer that comes before its request would be taken for the answer to the next one.
    if (this.#use === undefined) return this.#onUnasked();
    this.#use.received.read(chunk);
    if (this.#use.received.isWhole && !this.#use.sent.isWhole) this.#use.wasAnsweredEarly = true;
  };
}

function begin(): SocketUse {
  const sent = new WireMessage();
  return { sent, received: new WireMessage(() => sent.method), wasAnsweredEarly: false };
}
