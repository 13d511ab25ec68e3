/**
 * The connections of callers who are not the owner. SECURITY: the dashboard's port has places for so many in all; without a
 * bound a guest, a member or the thief of a token could hold all of them, and keep the owner out.
 */
import type { Duplex } from "node:stream";
import { AgentBoxError } from "../base/errors.ts";
import { type Caller, idOf } from "../core/access/caller.ts";

export interface ConnectionBounds {
  /** Of one person, token or share, however many sessions it has. */
  readonly each: number;
  /** Of all of them together; the rest of the port's places is the owner's. */
  readonly all: number;
}

export class CallerConnections {
  readonly #bounds: ConnectionBounds;
  readonly #open = new Map<string, Set<Duplex>>();
  #count = 0;

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds;
  }

  /** Idempotent for a connection that asks again; fails with access.too_many. */
  admit({ principal }: Caller, socket: Duplex): void {
    const id = idOf(principal);
    if (id === undefined) return;
    const key = `${principal.kind} ${id}`;
    const open = this.#open.get(key) ?? new Set<Duplex>();
    if (open.has(socket)) return;
    if (open.size >= this.#bounds.each || this.#count >= this.#bounds.all) {
      throw new AgentBoxError("access.too_many", "Too many connections are open at a time.", {
        hint: "Close pages and programs that follow something, then try again.",
      });
    }
    open.add(socket);
    this.#open.set(key, open);
    this.#count += 1;
    socket.once("close", () => {
      this.#count -= 1;
      open.delete(socket);
      if (open.size === 0 && this.#open.get(key) === open) this.#open.delete(key);
    });
  }
}
