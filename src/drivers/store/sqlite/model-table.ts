/**
 * Requests to models, one row each; nothing is ever deleted. Frequent queries (a box, one of its runs, a tree, a
 * project, a day) use an index, so the cost of a sum depends on its rows and not on the table's.
 */
import {
  type ModelRecord,
  type NewModelRecord,
  noUsage,
  type UsageTotals,
} from "../../../contract/model/usage.ts";
import type { ModelQuery, UsageGroup } from "../../../ports/store.ts";
import type { SqlAccess } from "./sql-access.ts";

const columns = [
  "at_ms",
  "box",
  "incarnation",
  "run",
  "agent",
  "project_dir",
  "provider",
  "model",
  "is_estimated",
  "input",
  "output",
  "cached",
  "cache_write",
  "reasoning",
  "estimate_input",
  "estimate_output",
  "cost_micro_usd",
  "status",
  "error",
  "duration_ms",
  "first_byte_ms",
] as const;
type Column = (typeof columns)[number];
type Value = string | number | null;

const insertSql = `INSERT INTO model (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;

const sums = `count(*), coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cached), 0),
  coalesce(sum(cache_write), 0), coalesce(sum(reasoning), 0), coalesce(sum(cost_micro_usd), 0),
  count(*) - count(cost_micro_usd), coalesce(sum(is_estimated), 0)`;
type SumRow = [number, number, number, number, number, number, number, number, number];

const groupKeys = {
  box: "box",
  agent: "agent",
  project: "coalesce(project_dir, '')",
  model: "model",
  day: "date(at_ms / 1000, 'unixepoch')",
} as const satisfies Record<UsageGroup, string>;

export class ModelTable {
  readonly #sql: SqlAccess;

  constructor(sql: SqlAccess) {
    this.#sql = sql;
  }

  insert(records: readonly NewModelRecord[]): void {
    for (const record of records) {
      const row = toRow(record);
      this.#sql.run(
        insertSql,
        columns.map((column) => row[column]),
      );
    }
  }

  list(query: ModelQuery, after: number, limit: number): ModelRecord[] {
    const { where, values } = conditions(query);
    const sql = `SELECT id, ${columns.join(", ")} FROM model WHERE id > ? AND ${where} ORDER BY id LIMIT ?`;
    return this.#sql.rows<[number, ...Value[]]>(sql, [after, ...values, limit]).map(toRecord);
  }

  sum(query: ModelQuery): UsageTotals {
    const { where, values } = conditions(query);
    return toTotals(this.#sql.rows<SumRow>(`SELECT ${sums} FROM model WHERE ${where}`, values)[0]!);
  }

  group(query: ModelQuery, by: UsageGroup): { key: string; totals: UsageTotals }[] {
    const { where, values } = conditions(query);
    const sql = `SELECT ${groupKeys[by]} AS key, ${sums} FROM model WHERE ${where} GROUP BY key
      ORDER BY coalesce(sum(cost_micro_usd), 0) DESC, key`;
    return this.#sql
      .rows<[string, ...SumRow]>(sql, values)
      .map(([key, ...row]) => ({ key, totals: toTotals(row) }));
  }
}

function conditions(query: ModelQuery): { where: string; values: Value[] } {
  const terms: string[] = [];
  const values: Value[] = [];
  const add = (term: string, ...given: (Value | undefined)[]) => {
    if (given.some((value) => value === undefined)) return;
    terms.push(term);
    values.push(...(given as Value[]));
  };
  add("box = ?", query.box);
  add("incarnation = ?", query.incarnation);
  add("run = ?", query.run);
  add("agent = ?", query.agent);
  add("project_dir = ?", query.projectDir);
  // "." is the character after "-": the range is what begins with `name-`, and an index can find it.
  const { tree } = query;
  if (tree !== undefined) add("(box = ? OR (box >= ? AND box < ?))", tree, `${tree}-`, `${tree}.`);
  add("at_ms >= ?", query.fromMs);
  add("at_ms < ?", query.toMs);
  return { where: terms.length > 0 ? terms.join(" AND ") : "1", values };
}

function toRow(record: NewModelRecord): Record<Column, Value> {
  const { usage, estimate } = record;
  const counted = usage ?? { ...noUsage, ...estimate };
  return {
    at_ms: record.atMs,
    box: record.box,
    incarnation: record.incarnation,
    run: record.run,
    agent: record.agent,
    project_dir: record.projectDir ?? null,
    provider: record.provider,
    model: record.model,
    is_estimated: usage ? 0 : 1,
    input: counted.input,
    output: counted.output,
    cached: counted.cached,
    cache_write: counted.cacheWrite,
    reasoning: counted.reasoning,
    estimate_input: estimate.input,
    estimate_output: estimate.output,
    cost_micro_usd: record.costMicroUsd ?? null,
    status: record.status,
    error: record.error ?? null,
    duration_ms: record.durationMs,
    first_byte_ms: record.firstByteMs ?? null,
  };
}

function toRecord([id, ...row]: [number, ...Value[]]): ModelRecord {
  const text = (column: Column) => row[columns.indexOf(column)] as string;
  const number = (column: Column) => row[columns.indexOf(column)] as number;
  const optional = (key: keyof ModelRecord, column: Column) => {
    const value = row[columns.indexOf(column)];
    return value === null ? {} : { [key]: value };
  };
  const usage = {
    input: number("input"),
    output: number("output"),
    cached: number("cached"),
    cacheWrite: number("cache_write"),
    reasoning: number("reasoning"),
  };
  return {
    id,
    atMs: number("at_ms"),
    box: text("box"),
    incarnation: text("incarnation"),
    run: number("run"),
    agent: text("agent"),
    ...optional("projectDir", "project_dir"),
    provider: text("provider"),
    model: text("model"),
    ...(number("is_estimated") === 0 ? { usage } : {}),
    estimate: { input: number("estimate_input"), output: number("estimate_output") },
    ...optional("costMicroUsd", "cost_micro_usd"),
    status: number("status"),
    ...optional("error", "error"),
    durationMs: number("duration_ms"),
    ...optional("firstByteMs", "first_byte_ms"),
  };
}

const toTotals = ([
  requests,
  input,
  output,
  cached,
  cacheWrite,
  reasoning,
  cost,
  unpriced,
  estimated,
]: SumRow): UsageTotals => ({
  requests,
  usage: { input, output, cached, cacheWrite, reasoning },
  costMicroUsd: cost,
  unpriced,
  estimated,
});
