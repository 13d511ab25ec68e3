/** Requests to models as a list, summed by looking at each; the meaning of every query as plainly as it can be said. */
import {
  type ModelRecord,
  type NewModelRecord,
  noUsage,
  type UsageTotals,
} from "../../../contract/model/usage.ts";
import type { ModelQuery, UsageGroup } from "../../../ports/store.ts";

export class ModelRecords {
  /** As text, for the same reason as everything else in this store. */
  readonly #records: string[] = [];

  add(records: readonly NewModelRecord[]): void {
    const first = this.#records.length + 1;
    this.#records.push(...records.map((record, i) => JSON.stringify({ id: first + i, ...record })));
  }

  find(query: ModelQuery): ModelRecord[] {
    return this.#records
      .map((text) => JSON.parse(text) as ModelRecord)
      .filter((record) => matches(record, query));
  }

  group(query: ModelQuery, by: UsageGroup): { key: string; totals: UsageTotals }[] {
    const groups = new Map<string, ModelRecord[]>();
    for (const record of this.find(query)) {
      const key = groupKeys[by](record);
      groups.set(key, [...(groups.get(key) ?? []), record]);
    }
    return [...groups]
      .map(([key, records]) => ({ key, totals: sumOf(records) }))
      .sort((a, b) => b.totals.costMicroUsd - a.totals.costMicroUsd || (a.key < b.key ? -1 : 1));
  }
}

const groupKeys: Readonly<Record<UsageGroup, (record: ModelRecord) => string>> = {
  box: ({ box }) => box,
  agent: ({ agent }) => agent,
  project: ({ projectDir }) => projectDir ?? "",
  model: ({ model }) => model,
  day: ({ atMs }) => new Date(atMs).toISOString().slice(0, 10),
};

function matches(record: ModelRecord, query: ModelQuery): boolean {
  const { tree, fromMs = -Infinity, toMs = Infinity } = query;
  const isSame = (["box", "incarnation", "run", "agent", "projectDir"] as const).every(
    (key) => query[key] === undefined || record[key] === query[key],
  );
  const isInTree = tree === undefined || record.box === tree || record.box.startsWith(`${tree}-`);
  return isSame && isInTree && record.atMs >= fromMs && record.atMs < toMs;
}

export function sumOf(records: readonly ModelRecord[]): UsageTotals {
  const usage = { ...noUsage };
  const totals = { requests: records.length, usage, costMicroUsd: 0, unpriced: 0, estimated: 0 };
  for (const record of records) {
    const counted = record.usage ?? { ...noUsage, ...record.estimate };
    for (const part of ["input", "output", "cached", "cacheWrite", "reasoning"] as const) {
      usage[part] += counted[part];
    }
    totals.costMicroUsd += record.costMicroUsd ?? 0;
    if (record.costMicroUsd === undefined) totals.unpriced += 1;
    if (!record.usage) totals.estimated += 1;
  }
  return totals;
}
