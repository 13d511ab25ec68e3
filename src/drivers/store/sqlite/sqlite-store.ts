/**
 * The store in one SQLite file. A commit is one transaction that is on the disk when it returns; event numbers are
 * given inside it, so they have no holes in the order of commits. Records were checked when they were made and
 * are not checked again at every read.
 */
import { AgentBoxError } from "../../../base/errors.ts";
import type { Box } from "../../../contract/box.ts";
import type { BoxEvent } from "../../../contract/events.ts";
import type { EgressRecord, NewEgressRecord } from "../../../contract/network/egress.ts";
import type { HostTotal } from "../../../contract/network/host-totals.ts";
import type { NetworkRule } from "../../../contract/network/policy.ts";
import type { ModelRecord, NewModelRecord, UsageTotals } from "../../../contract/model/usage.ts";
import { lastingKinds, type ReviewKind, type ReviewKinds } from "../../../contract/review/entry.ts";
import type { SecretGrant } from "../../../contract/secret/grant.ts";
import type {
  ChainMark,
  EgressQuery,
  EventChain,
  EventQuery,
  ModelQuery,
  Store,
  StoreChange,
  TrustRecord,
  UsageGroup,
} from "../../../ports/store.ts";
import { type QueueEntry, queueKey } from "../../../ports/queue-records.ts";
import type { Sqlite, Statement } from "./database.ts";
import { EgressTable } from "./egress-table.ts";
import { EventTable } from "./event-table.ts";
import { ModelTable } from "./model-table.ts";
import { SecretGrantTable } from "./secret-grant-table.ts";
import type { SqlAccess } from "./sql-access.ts";
import { storeError } from "./store-errors.ts";

type TrustRow = [string, string, string, number];

export class SqliteStore implements Store {
  readonly #db: Sqlite;
  readonly #path: string;
  readonly #statements = new Map<string, Statement>();
  readonly #sql: SqlAccess = {
    rows: (sql, values) => this.#rows(sql, values),
    run: (sql, values) => this.#run(sql, values),
  };
  readonly #events = new EventTable(this.#sql);
  readonly #egress = new EgressTable(this.#sql);
  readonly #model = new ModelTable(this.#sql);
  readonly #secretGrants = new SecretGrantTable(this.#sql);

  constructor(db: Sqlite, path: string) {
    this.#db = db;
    this.#path = path;
  }

  async commit(change: StoreChange): Promise<readonly BoxEvent[]> {
    return this.#transaction(() => {
      this.#changeBoxes(change);
      this.#changeTrust(change);
      this.#changeGrants(change);
      this.#changeReview(change);
      this.#secretGrants.change(change);
      this.#changeQueue(change);
      return this.#events.append(change.events);
    });
  }

  async findBox(name: string): Promise<Box | undefined> {
    const row = this.#rows<[string]>("SELECT box FROM boxes WHERE name = ?", [name])[0];
    return row && (JSON.parse(row[0]) as Box);
  }

  async listBoxes(): Promise<readonly Box[]> {
    return this.#rows<[string]>("SELECT box FROM boxes ORDER BY name", []).map(
      ([text]) => JSON.parse(text) as Box,
    );
  }

  async listEvents(query: EventQuery): Promise<readonly BoxEvent[]> {
    return this.#events.list(query);
  }

  async lastEventId(): Promise<number> {
    return this.#events.lastId();
  }

  async verifyEvents(mark?: ChainMark): Promise<EventChain> {
    return this.#events.verify(mark);
  }

  async findTrust(projectDir: string, digest: string): Promise<TrustRecord | undefined> {
    const sql = `SELECT project_dir, digest, requests, granted_at_ms FROM trust
      WHERE project_dir = ? AND digest = ?`;
    return this.#rows<TrustRow>(sql, [projectDir, digest]).map(toTrust)[0];
  }

  async listTrust(): Promise<readonly TrustRecord[]> {
    const sql = "SELECT project_dir, digest, requests, granted_at_ms FROM trust ORDER BY project_dir, digest";
    return this.#rows<TrustRow>(sql, []).map(toTrust);
  }

  async listGrants(projectDir: string): Promise<readonly NetworkRule[]> {
    const sql = "SELECT rule FROM grants WHERE project_dir = ? ORDER BY id";
    return this.#rows<[string]>(sql, [projectDir]).map(([text]) => JSON.parse(text) as NetworkRule);
  }

  async listSecretGrants(secret?: string): Promise<readonly SecretGrant[]> {
    return this.#secretGrants.list(secret);
  }

  async listQueue(): Promise<readonly QueueEntry[]> {
    return this.#rows<[string]>("SELECT value FROM queue", []).map(
      ([text]) => JSON.parse(text) as QueueEntry,
    );
  }

  async recordEgress(records: readonly NewEgressRecord[]): Promise<void> {
    this.#transaction(() => this.#egress.add(records));
  }

  async listEgress(query: EgressQuery): Promise<readonly EgressRecord[]> {
    return this.#egress.list(query);
  }

  async sumEgress(box: string, incarnation: string): Promise<readonly HostTotal[]> {
    return this.#egress.sum(box, incarnation);
  }

  async recordModel(records: readonly NewModelRecord[]): Promise<void> {
    this.#transaction(() => this.#model.insert(records));
  }

  async listModel(
    query: ModelQuery & { readonly after?: number; readonly limit: number },
  ): Promise<readonly ModelRecord[]> {
    return this.#model.list(query, query.after ?? 0, query.limit);
  }

  async sumModel(query: ModelQuery): Promise<UsageTotals> {
    return this.#model.sum(query);
  }

  async groupModel(
    query: ModelQuery,
    by: UsageGroup,
  ): Promise<readonly { readonly key: string; readonly totals: UsageTotals }[]> {
    return this.#model.group(query, by);
  }

  async listReview<K extends ReviewKind>(
    kind: K,
    { incarnation, projectDir }: { readonly incarnation?: string; readonly projectDir?: string },
  ): Promise<readonly ReviewKinds[K][]> {
    const sql = `SELECT value FROM review WHERE kind = ? AND (? IS NULL OR incarnation = ?)
      AND (? IS NULL OR project_dir = ?) ORDER BY CAST(key AS INTEGER), key`;
    const [of, project] = [incarnation ?? null, projectDir ?? null];
    return this.#rows<[string]>(sql, [kind, of, of, project, project]).map(
      ([value]) => JSON.parse(value) as ReviewKinds[K],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#db.open) return;
    this.#statements.clear();
    // libsql lets go of the file only when its statements are collected, so the log is folded in here and now.
    this.#guard(() => this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
    this.#db.close();
  }

  #transaction<T>(task: () => T): T {
    return this.#guard(() => {
      // IMMEDIATE takes the write lock before anything is read, so that two processes cannot both see a free name.
      this.#db.exec("BEGIN IMMEDIATE");
      try {
        const result = task();
        this.#db.exec("COMMIT");
        return result;
      } catch (error) {
        // After some failures, such as a full disk, SQLite has rolled back already.
        if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
        throw error;
      }
    });
  }

  #changeGrants({ grant }: StoreChange): void {
    if (!grant) return;
    const values = [grant.projectDir, grant.rule.id, JSON.stringify(grant.rule)];
    this.#run("INSERT OR REPLACE INTO grants (project_dir, id, rule) VALUES (?, ?, ?)", values);
  }

  #changeReview({ remove, review = [], dropReview }: StoreChange): void {
    if (remove) {
      const lasting = lastingKinds.map(() => "?").join(", ");
      const sql = `DELETE FROM review WHERE box = ? AND kind NOT IN (${lasting})`;
      this.#run(sql, [remove.name, ...lastingKinds]);
    }
    if (dropReview) {
      const { incarnation, kind, key } = dropReview;
      this.#run("DELETE FROM review WHERE incarnation = ? AND kind = ? AND key = ?", [
        incarnation,
        kind,
        key,
      ]);
    }
    for (const { kind, key, value } of review) {
      const projectDir = "projectDir" in value ? value.projectDir : null;
      this.#run(
        "INSERT OR REPLACE INTO review (incarnation, kind, key, box, project_dir, value) VALUES (?, ?, ?, ?, ?, ?)",
        [value.incarnation, kind, key, value.box, projectDir, JSON.stringify(value)],
      );
    }
  }

  #changeQueue({ queue = [], unqueue = [] }: StoreChange): void {
    for (const key of unqueue) this.#run("DELETE FROM queue WHERE key = ?", [key]);
    for (const entry of queue)
      this.#run("INSERT OR REPLACE INTO queue (key, value) VALUES (?, ?)", [
        queueKey(entry),
        JSON.stringify(entry),
      ]);
  }

  #changeBoxes({ remove, insert, update }: StoreChange): void {
    if (remove) this.#run("DELETE FROM boxes WHERE name = ?", [remove.name]);
    if (insert) {
      const taken = this.#all<[number]>("SELECT 1 FROM boxes WHERE name = ?", [insert.name]).length > 0;
      if (taken) throw nameTaken(insert.name);
      const values = [insert.name, insert.incarnation, insert.state.phase, JSON.stringify(insert)];
      this.#run("INSERT INTO boxes (name, incarnation, phase, box) VALUES (?, ?, ?, ?)", values);
    }
    if (update) {
      const values = [update.state.phase, JSON.stringify(update), update.name, update.incarnation];
      const changes = this.#run(
        "UPDATE boxes SET phase = ?, box = ? WHERE name = ? AND incarnation = ?",
        values,
      );
      if (changes === 0) throw boxGone(update.name);
    }
  }

  #changeTrust({ trust, untrust }: StoreChange): void {
    if (untrust) {
      const sql = "DELETE FROM trust WHERE project_dir = ? AND (? IS NULL OR digest = ?)";
      const digest = untrust.digest ?? null;
      this.#run(sql, [untrust.projectDir, digest, digest]);
    }
    if (trust) {
      const sql =
        "INSERT OR REPLACE INTO trust (project_dir, digest, requests, granted_at_ms) VALUES (?, ?, ?, ?)";
      this.#run(sql, [trust.projectDir, trust.digest, JSON.stringify(trust.requests), trust.grantedAtMs]);
    }
  }

  #rows<Row>(sql: string, values: readonly unknown[]): Row[] {
    return this.#guard(() => this.#all<Row>(sql, values));
  }

  /** Always every row: a statement left in the middle of its rows would keep an old view of the file open. */
  #all<Row>(sql: string, values: readonly unknown[]): Row[] {
    return this.#statement(sql)
      .raw()
      .all(...values) as Row[];
  }

  #run(sql: string, values: readonly unknown[]): number {
    return this.#statement(sql).run(...values).changes;
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }

  #guard<T>(task: () => T): T {
    try {
      return task();
    } catch (error) {
      throw storeError(error, this.#path);
    }
  }
}

const nameTaken = (name: string): AgentBoxError =>
  new AgentBoxError("box.name_taken", `A box named "${name}" exists already.`, {
    hint: `Choose another name, or run: agentbox rm ${name}`,
    facts: { box: name },
  });

const boxGone = (name: string): AgentBoxError =>
  new AgentBoxError("box.not_found", `The box "${name}" has been removed.`, { facts: { box: name } });

const toTrust = ([projectDir, digest, requests, grantedAtMs]: TrustRow): TrustRecord => ({
  projectDir,
  digest,
  requests: JSON.parse(requests) as string[],
  grantedAtMs,
});
