import { backoffMs } from "../base/backoff.ts";
import { decodeJson, type Frame, frameKind } from "../contract/link/codec.ts";
import type { ControlMessage, ControlRequest, Welcome } from "../contract/link/messages.ts";
import { linkProtocol } from "../contract/link/protocol.ts";
import { Connection } from "./connection.ts";

const backoff = { firstMs: 50, maxMs: 5_000, random: Math.random };

export interface HostControlIdentity {
  readonly boot: string;
  readonly version: string;
  /** Paths of what was promised and is not there. */
  readonly missing?: string[] | undefined;
}

export interface HostControlEvents {
  connected(): void;
  request(request: ControlRequest): void;
}

/** The control connection, dialled again for ever: a host that is away does not stop the box. */
export class HostControl {
  readonly #socketPath: string;
  readonly #identity: HostControlIdentity;
  readonly #events: HostControlEvents;
  #connection: Connection | undefined;
  #isWelcome = false;
  #attempt = 0;
  #isClosed = false;

  constructor(socketPath: string, identity: HostControlIdentity, events: HostControlEvents) {
    this.#socketPath = socketPath;
    this.#identity = identity;
    this.#events = events;
  }

  dial(): void {
    const connection = new Connection(this.#socketPath);
    this.#connection = connection;
    connection.send({ role: "control", protocol: linkProtocol, ...this.#identity });
    connection.onFrame((frame) => this.#receive(frame));
    connection.onClose(() => this.#lost());
  }

  /** Lost when the host is away; it learns what it missed from the health that is sent when it is back. */
  send(message: ControlMessage): void {
    if (this.#isWelcome) this.#connection?.send(message);
  }

  /** Sends what is queued and does not dial again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = this.#connection;
    if (!connection?.isOpen) return;
    const closed = new Promise<void>((resolve) => connection.onClose(resolve));
    connection.end();
    await closed;
  }

  #receive(frame: Frame): void {
    if (frame.kind !== frameKind.json) throw new TypeError("a data frame on the control connection");
    const message = decodeJson(frame.payload) as Welcome | ControlRequest;
    if (message.type === "welcome") {
      this.#isWelcome = true;
      this.#attempt = 0;
      this.#events.connected();
    } else if (message.type === "refused") {
      // It will not change its mind soon.
      this.#attempt = 30;
      this.#connection?.destroy();
    } else {
      this.#events.request(message);
    }
  }

  #lost(): void {
    this.#isWelcome = false;
    this.#connection = undefined;
    if (this.#isClosed) return;
    setTimeout(() => this.dial(), backoffMs(this.#attempt, backoff));
    this.#attempt += 1;
  }
}
