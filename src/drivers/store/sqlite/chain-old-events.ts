/** Gives the events of a log from before there was a chain their digests. It cannot prove the events until then. */
import { eventDigest } from "../event-chain.ts";
import type { Sqlite } from "./database.ts";
import { type EventRow, toEvent } from "./event-table.ts";

const pageSize = 2_000;

export function chainOldEvents(db: Sqlite): void {
  const page = db
    .prepare("SELECT id, at_ms, type, box, incarnation, data FROM events WHERE id > ? ORDER BY id LIMIT ?")
    .raw();
  const write = db.prepare("UPDATE events SET digest = ? WHERE id = ?");
  let [after, previous] = [0, ""];
  for (;;) {
    const rows = page.all(after, pageSize) as EventRow[];
    for (const row of rows) {
      previous = eventDigest(toEvent(row), previous);
      write.run(previous, row[0]);
    }
    if (rows.length < pageSize) return;
    after = rows.at(-1)![0];
  }
}
