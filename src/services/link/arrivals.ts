/**
 * Connections between being accepted and having said what they are for. SECURITY: everything in a box can dial. Who dials
 * too fast waits unread; who says nothing, or nonsense, has to go, and later each time, so that dialling again and again
 * is no faster than it should be.
 */
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { Hello } from "../../contract/link/messages.ts";
import { readHello } from "./hello-reader.ts";
import type { BoxRates } from "./link-rates.ts";

export const helloMs = 5_000;
const maxSilent = 64;

export interface ArrivalEvents {
  greet(socket: Socket, hello: Hello): void;
  violated(reason: string): void;
}

/** Immediates run after what is ready is read; the first of them comes before the connection is watched at all. */
const afterNextRead = (action: () => void) => setImmediate(() => setImmediate(action));

export class Arrivals {
  readonly #clock: Clock;
  readonly #rates: Pick<BoxRates, "connection" | "offence">;
  readonly #events: ArrivalEvents;
  readonly #silent = new Set<Socket>();

  constructor(clock: Clock, rates: Pick<BoxRates, "connection" | "offence">, events: ArrivalEvents) {
    this.#clock = clock;
    this.#rates = rates;
    this.#events = events;
  }

  /** The connection must not be read yet. */
  add(socket: Socket): void {
    socket.on("error", () => undefined);
    const waitMs = this.#rates.connection();
    if (waitMs === 0) return this.#read(socket);
    const cancel = this.#clock.after(waitMs, () => this.#read(socket));
    socket.on("close", cancel);
  }

  /** For a connection that is against the protocol. A box that makes many of them is kept waiting for the end. */
  refuse(socket: Socket, reason: string): void {
    this.#events.violated(reason);
    const waitMs = this.#rates.offence();
    if (waitMs === 0) return void socket.destroy();
    socket.pause();
    const cancel = this.#clock.after(waitMs, () => socket.destroy());
    socket.on("close", cancel);
  }

  #read(socket: Socket): void {
    if (socket.destroyed) return;
    let hasSettled = false;
    const settle = () => {
      hasSettled = true;
      this.#silent.delete(socket);
      cancel();
    };
    const refuse = (reason: string) => {
      if (hasSettled) return;
      settle();
      this.refuse(socket, reason);
    };
    // SECURITY: a box that opens connections and keeps silent would otherwise use up all the slots.
    const cancel = this.#clock.after(helloMs, () => refuse("no hello in time"));
    socket.on("close", settle);
    readHello(socket, {
      hello: (value) => {
        if (hasSettled) return;
        settle();
        const hello = Hello.safeParse(value);
        if (hello.success) this.#events.greet(socket, hello.data);
        else this.refuse(socket, "a first frame that is no hello");
      },
      violated: refuse,
    });
    // Many programs may connect at once; one is silent only when there was time to read what it has said.
    afterNextRead(() => {
      if (hasSettled) return;
      if (this.#silent.size >= maxSilent) refuse("too many connections that say nothing");
      else this.#silent.add(socket);
    });
  }
}
