import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UsageJournal } from "../../../core/budget/usage-journal.ts";
import { sampleModelRecord } from "../../../ports/store-usage.conformance.ts";
import type { ModelQuery, Store } from "../../../ports/store.ts";
import sqlite from "./index.ts";
import { ModelTable } from "./model-table.ts";

let dir: string;
let store: Store;
const path = () => join(dir, "store.db");

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "agentbox-model-"));
  store = await sqlite.open(path());
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

describe("requests to models in SQLite", () => {
  it("are in the file when the journal returns, before anything else can run", async () => {
    const reader = new Database(path());
    const count = () => (reader.prepare("SELECT count(*) FROM model").raw().all() as [number][])[0]![0];
    const before = count();
    const journal = new UsageJournal(
      () => store,
      () => undefined,
    );
    journal.add(sampleModelRecord("one"));
    expect(count()).toBe(before + 1);
    reader.close();
  });

  it("are found by an index wherever budgets ask", () => {
    const db = new Database(path());
    const plans: string[] = [];
    const table = new ModelTable({
      run: () => 0,
      rows: (sql, values) => {
        const steps = db
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .raw()
          .all(...values) as [number, number, number, string][];
        plans.push(steps.map((step) => step[3]).join("; "));
        return [[0, 0, 0, 0, 0, 0, 0, 0, 0]] as never[];
      },
    });
    const planOf = (query: ModelQuery) => {
      table.sum(query);
      return plans.pop()!;
    };
    // The control: without a condition there is nothing to search by.
    expect(planOf({})).toMatch(/SCAN model/);
    expect(planOf({ box: "b", incarnation: "i", run: 1 })).toMatch(/COVERING INDEX model_by_box .*run=/);
    expect(planOf({ box: "b", incarnation: "i" })).toMatch(/COVERING INDEX model_by_box .*incarnation=/);
    expect(planOf({ fromMs: 1, toMs: 2 })).toMatch(/INDEX model_by_time .*at_ms>/);
    expect(planOf({ projectDir: "/p", fromMs: 1, toMs: 2 })).toMatch(/INDEX model_by_project .*project_dir=/);
    const tree = planOf({ tree: "b", fromMs: 1 });
    expect(tree).toMatch(/INDEX model_by_(box|time)/);
    expect(tree).not.toMatch(/SCAN/);
    db.close();
  });
});
