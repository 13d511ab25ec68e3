/**
 * Notices about budgets: once that four fifths of a limit are used, once that it was too little. "Once" is for a limit
 * of this size in this period, also across restarts of the daemon: earlier notices are in the event log.
 */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import type { EventType } from "../../contract/events.ts";
import type { Store } from "../../ports/store.ts";
import type { Obstacle } from "./decide-reservation.ts";

/** The part of Core that is needed to tell. */
export interface NoticeContext {
  readonly ports: { readonly store: Pick<Store, "listEvents"> };
  note(type: EventType, box: Box | undefined, data?: Record<string, unknown>): Promise<void>;
  background(what: string, task: Promise<unknown>): void;
}

const warnAt = 0.8;
/** Older ones are about days and runs that are over. */
const remembered = 1_000;

type Notice = "budget.warned" | "budget.exhausted";

export class BudgetNotices {
  readonly #core: NoticeContext;
  readonly #sent = new Map<string, Readonly<Record<string, unknown>>>();
  #recall: Promise<void> | undefined;

  constructor(core: NoticeContext) {
    this.#core = core;
  }

  /** Reads once the notices of earlier daemons; before that none is sent. */
  ready(): Promise<void> {
    this.#recall ??= this.#readLog().catch((error: unknown) => {
      this.#recall = undefined;
      throw error;
    });
    return this.#recall;
  }

  /** For the limit, not for the box: of all the boxes that share a limit, the one that crossed the line says so. */
  level(box: Box, level: Obstacle): void {
    if (level.used >= level.limit * warnAt) this.#send("budget.warned", box, level);
  }

  exhausted(box: Box, obstacle: Obstacle): void {
    this.#send("budget.exhausted", box, obstacle);
  }

  /** Whether a request of this box was refused for this limit as it is now. */
  wasExhausted(box: Box, obstacle: Obstacle): boolean {
    return this.#sent.has(keyOf("budget.exhausted", box.incarnation, dataOf(obstacle)));
  }

  /** The most that the request may have used which was refused for this limit. */
  refused(box: Box, obstacle: Obstacle): number | undefined {
    const next = this.#sent.get(keyOf("budget.exhausted", box.incarnation, dataOf(obstacle)))?.["next"];
    return typeof next === "number" ? next : undefined;
  }

  #send(notice: Notice, box: Box, level: Obstacle): void {
    const data = dataOf(level);
    const key = keyOf(notice, box.incarnation, data);
    if (this.#sent.has(key)) return;
    this.#sent.set(key, data);
    this.#core.background(`noting ${notice}`, this.#core.note(notice, box, data));
  }

  async #readLog(): Promise<void> {
    for (const type of ["budget.warned", "budget.exhausted"] as const) {
      const query = { type, limit: remembered, newestFirst: true };
      for (const event of await this.#core.ports.store.listEvents(query)) {
        const key = keyOf(type, event.incarnation ?? "", event.data);
        // The newest comes first.
        if (!this.#sent.has(key)) this.#sent.set(key, event.data);
      }
    }
  }
}

const dataOf = ({ held, unit, used, limit, next }: Obstacle): Record<string, unknown> => ({
  scope: held.limit.scope,
  layer: held.limit.layer,
  unit,
  used,
  limit,
  holder: held.holder,
  meter: held.meter.key,
  ...omitUndefined({ next }),
});

const keyOf = (notice: Notice, incarnation: string, data: Record<string, unknown>): string =>
  JSON.stringify([
    notice,
    notice === "budget.exhausted" ? incarnation : "",
    data["scope"],
    data["layer"],
    data["unit"],
    data["limit"],
    data["meter"],
  ]);
