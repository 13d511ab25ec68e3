/** The event log: numbers without holes, and each event tied to the one before by its digest. */
import { setImmediate } from "node:timers/promises";
import type { BoxEvent, NewEvent } from "../../../contract/events.ts";
import type { ChainMark, EventChain, EventQuery } from "../../../ports/store.ts";
import { type ChainedEvent, eventDigest, verifyChain } from "../event-chain.ts";
import { type SqlAccess, Where } from "./sql-access.ts";

export type EventRow = [number, number, BoxEvent["type"], string | null, string | null, string];

const columns = "id, at_ms, type, box, incarnation, data";
/** Verified at once: a few milliseconds of the daemon's only thread. */
const pageSize = 500;

export class EventTable {
  readonly #sql: SqlAccess;

  constructor(sql: SqlAccess) {
    this.#sql = sql;
  }

  /** Inside the transaction that has the write lock, so no other process appends in between. */
  append(events: readonly NewEvent[]): BoxEvent[] {
    if (events.length === 0) return [];
    const last = "SELECT id, digest FROM events ORDER BY id DESC LIMIT 1";
    let [id, previous] = this.#sql.rows<[number, string]>(last, [])[0] ?? [0, ""];
    return events.map((event) => {
      const { atMs, type, box = null, incarnation = null } = event;
      const row: EventRow = [++id, atMs, type, box, incarnation, JSON.stringify(event.data)];
      const stored = toEvent(row);
      previous = eventDigest(stored, previous);
      this.#sql.run(`INSERT INTO events (${columns}, digest) VALUES (?, ?, ?, ?, ?, ?, ?)`, [
        ...row,
        previous,
      ]);
      return stored;
    });
  }

  list({ after = 0, before, box, type, limit, newestFirst }: EventQuery): BoxEvent[] {
    const where = new Where()
      .and("id > ?", after)
      .and("id < ?", before)
      .and("box = ?", box)
      .and("type = ?", type);
    const order = newestFirst ? "DESC" : "ASC";
    const sql = `SELECT ${columns} FROM events WHERE ${where.sql} ORDER BY id ${order} LIMIT ?`;
    return this.#sql.rows<EventRow>(sql, [...where.values, limit]).map(toEvent);
  }

  lastId(): number {
    return this.#sql.rows<[number]>("SELECT coalesce(max(id), 0) FROM events", [])[0]![0];
  }

  verify(mark: ChainMark | undefined): Promise<EventChain> {
    return verifyChain(this.#pages(), mark);
  }

  async *#pages(): AsyncGenerator<ChainedEvent[]> {
    const sql = `SELECT ${columns}, digest FROM events WHERE id > ? ORDER BY id LIMIT ?`;
    let after = Number.MIN_SAFE_INTEGER;
    for (;;) {
      const rows = this.#sql.rows<[...EventRow, string]>(sql, [after, pageSize]);
      yield rows.map(toChained);
      if (rows.length < pageSize) return;
      after = rows.at(-1)![0];
      // Others of the daemon's work come between two pages.
      await setImmediate();
    }
  }
}

function toChained([id, atMs, type, box, incarnation, data, digest]: [...EventRow, string]): ChainedEvent {
  try {
    return { event: toEvent([id, atMs, type, box, incarnation, data]), digest };
  } catch {
    // We write only records that can be read again: this one was not written by us.
    return { event: toEvent([id, atMs, type, box, incarnation, "{}"]), digest: "" };
  }
}

export const toEvent = ([id, atMs, type, box, incarnation, data]: EventRow): BoxEvent => ({
  id,
  atMs,
  type,
  ...(box === null ? {} : { box }),
  ...(incarnation === null ? {} : { incarnation }),
  data: JSON.parse(data) as BoxEvent["data"],
});
