import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sampleEgress } from "../../../ports/store-samples.ts";
import type { EgressQuery } from "../../../ports/store.ts";
import { EgressTable } from "./egress-table.ts";
import sqlite from "./index.ts";

let dir: string;
let db: InstanceType<typeof Database>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "agentbox-egress-"));
  const path = join(dir, "store.db");
  await (await sqlite.open(path))[Symbol.asyncDispose]();
  db = new Database(path);
});
afterAll(async () => {
  db.close();
  await rm(dir, { recursive: true, force: true });
});

describe("the gate's decisions in SQLite", () => {
  it("are found and bounded by an index, and come in order from it", () => {
    const plans: string[] = [];
    const explain = (sql: string, values: readonly unknown[]): void => {
      const steps = db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .raw()
        .all(...values) as [number, number, number, string][];
      plans.push(steps.map((step) => step[3]).join("; "));
    };
    const table = new EgressTable({
      run: (sql, values) => (explain(sql, values), 0),
      rows: (sql, values) => (explain(sql, values), []),
    });
    const planOf = (query: Omit<EgressQuery, "limit">) => {
      table.list({ ...query, limit: 10, newestFirst: true });
      return plans.pop()!;
    };
    // The control: without a condition only the number is searched by.
    expect(planOf({})).toMatch(/INTEGER PRIMARY KEY/);
    for (const query of [{ box: "b" }, { secret: "s" }]) {
      expect(planOf(query)).toMatch(/USING INDEX egress_by_(box|secret)/);
      expect(planOf(query)).not.toMatch(/SCAN|B-TREE/);
    }
    for (const record of [
      sampleEgress("b", "h", "deny"),
      { ...sampleEgress("b", "h", "allow"), secret: "s" },
    ]) {
      table.add([record]);
      const bound = plans.find((plan) => plan.includes("egress_by_share"))!;
      for (const plan of plans.splice(0)) expect(plan).not.toMatch(/SCAN egress/);
      expect(bound).toMatch(/COVERING INDEX egress_by_share \(box=\? AND verdict=\? AND secret=\?/);
      expect(bound).not.toMatch(/SCAN egress|B-TREE/);
    }
  });
});
