/**
 * Opens the file of the store: owner-only, durable, at the newest version of its shape. Refuses files that are
 * not ours, damaged, or written by a newer AgentBox; such a file is left exactly as it was.
 */
import { chmod, open } from "node:fs/promises";
import Database from "libsql";
import { AgentBoxError } from "../../../base/errors.ts";
import { applicationId, migrations } from "./migrations.ts";
import { foreignFile, storeError } from "./store-errors.ts";

export type Sqlite = Database.Database;
export type Statement = Database.Statement;

/** Calls block the daemon's only thread, so waiting for another process must stay short. */
const busyTimeoutMs = 200;

export async function openDatabase(path: string): Promise<Sqlite> {
  let db: Sqlite | undefined;
  try {
    // SECURITY: made before SQLite does, because SQLite would follow the umask and let other users read the log.
    // The -wal and -shm files take the mode of this one.
    await (await open(path, "a", 0o600)).close();
    await chmod(path, 0o600);
    db = new Database(path, { timeout: busyTimeoutMs });
    prepare(db, path);
    return db;
  } catch (error) {
    db?.close();
    throw storeError(error, path);
  }
}

function prepare(db: Sqlite, path: string): void {
  const version = readPragma(db, "user_version");
  checkOrigin(db, path, version);
  db.exec("PRAGMA journal_mode = WAL");
  // FULL syncs the log at every commit: an acknowledged record survives a power cut, not only kill -9. NORMAL would be
  // 0.25 ms faster per commit, and a box whose record is lost is an orphan that is never stopped.
  db.exec("PRAGMA synchronous = FULL");
  db.exec("PRAGMA foreign_keys = ON");
  if (version < migrations.length) migrate(db);
}

function checkOrigin(db: Sqlite, path: string, version: number): void {
  if (version > migrations.length) {
    throw new AgentBoxError("store.too_new", `The store ${path} was written by a newer AgentBox.`, {
      hint: "Install that version again, or choose another AGENTBOX_HOME.",
      facts: { store: path, version, supported: migrations.length },
    });
  }
  const isOurs = readPragma(db, "application_id") === applicationId;
  const tables = db.prepare("SELECT count(*) FROM sqlite_master").raw().all() as [number][];
  if (!isOurs && (version > 0 || tables[0]![0] > 0)) throw foreignFile(path);
}

/** All steps in one transaction; the version is read again inside, because two processes may open a new file. */
function migrate(db: Sqlite): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    for (const step of migrations.slice(readPragma(db, "user_version"))) {
      if (typeof step === "string") db.exec(step);
      else step(db);
    }
    db.exec(`PRAGMA application_id = ${applicationId}`);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
    db.exec("COMMIT");
  } catch (error) {
    if (db.inTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function readPragma(db: Sqlite, name: "user_version" | "application_id"): number {
  const rows = db.prepare(`PRAGMA ${name}`).raw().all() as [number][];
  return rows[0]![0];
}
