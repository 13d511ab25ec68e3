/**
 * How fast a box's requests and handshakes are taken. SECURITY: each takes the daemon's time before it is judged, and
 * the daemon is there for all boxes and people. Requests that come faster are not read: they wait in the box.
 */
import type { Duplex } from "node:stream";
import type { Clock } from "../../../base/clock.ts";
import { type Share, SharedRate } from "../../../base/rate.ts";
import type { GateLimits } from "../limits.ts";

/** The cost of each, in units of the rate. */
const prices = {
  request: 1,
  /** Keys are made, and a certificate for a new name. */
  handshake: 10,
  /** A request on a connection that is closed already. */
  dropped: 0.05,
} as const;

/** Waiting for less would only make more timers. */
const leastWaitMs = 10;
/** Requests over HTTP/2 that wait; a connection on which more come is closed. */
const maxWaiting = 64;

/** One rate for all boxes, because they share one daemon. */
export function openPaces(clock: Clock, limits: GateLimits): () => Pace {
  const { pacePerSecond: perSecond, paceBurst: burst, paceAlone: alone, paceTogether: together } = limits;
  const rate = new SharedRate({ own: { perSecond, burst }, alone, together }, clock);
  return () => new Pace(rate.open(), clock);
}

export class Pace {
  readonly #share: Share;
  readonly #clock: Clock;
  readonly #sockets = new Set<Duplex>();
  readonly #connections: (() => void)[] = [];
  readonly #requests: (() => void)[] = [];
  #isHeld = false;

  constructor(share: Share, clock: Clock) {
    this.#share = share;
    this.#clock = clock;
  }

  /** From now on this socket is read as fast as is fair; to be called when the box owes nothing. */
  add(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.resume();
  }

  /** It carries no requests any more: its new owner reads it. */
  remove(socket: Duplex): void {
    this.#sockets.delete(socket);
  }

  spend(price: keyof typeof prices): void {
    const waitMs = this.#share.spend(prices[price]);
    if (waitMs > 0 && !this.#isHeld) this.#hold(waitMs);
  }

  /** Calls back when the box owes nothing, at once if possible. For connections, of which a box has only so many. */
  whenFree(act: () => void): void {
    if (this.#isHeld) this.#connections.push(act);
    else act();
  }

  /** The same for a request over HTTP/2; false when too many wait. */
  takeTurn(act: () => void): boolean {
    if (!this.#isHeld) act();
    else if (this.#requests.length >= maxWaiting) return false;
    else this.#requests.push(act);
    return true;
  }

  #hold(waitMs: number): void {
    this.#isHeld = true;
    for (const socket of this.#sockets) socket.pause();
    this.#clock.after(Math.max(waitMs, leastWaitMs), () => {
      this.#isHeld = false;
      const waitMore = this.#share.spend(0);
      if (waitMore > 0) return this.#hold(waitMore);
      for (const socket of this.#sockets) socket.resume();
      for (const act of [...this.#requests.splice(0), ...this.#connections.splice(0)]) this.whenFree(act);
    });
  }
}
