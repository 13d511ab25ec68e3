import fc from "fast-check";
import { expect, test } from "vitest";
import { NameTable } from "./name-table.ts";

const tenMinutes = 10 * 60_000;

test("addresses come in order, and the same name keeps its own", () => {
  const table = new NameTable();
  expect(table.take("a.test")?.address).toBe("127.64.0.1");
  expect(table.take("b.test")?.address).toBe("127.64.0.2");
  expect(table.take("a.test")?.address).toBe("127.64.0.1");
  expect(table.nameAt("127.64.0.2")).toBe("b.test");
  expect(table.nameAt("127.64.0.3")).toBeUndefined();
});

test("a flood of names takes every place and no more, and the next one finds room after ten minutes", () => {
  let now = 0;
  const table = new NameTable({ nowMs: () => now });
  for (let i = 0; i < 65_536; i++) table.take(`n${i}.test`);
  expect(table.take("n65535.test")?.address).toBe("127.65.0.0");
  expect(table.take("late.test")).toBeUndefined();
  expect(table.size).toBe(65_536);
  now = tenMinutes - 1;
  expect(table.take("late.test")).toBeUndefined();
  now = tenMinutes;
  expect(table.take("late.test")?.address).toBe("127.64.0.1");
  expect(table.nameAt("127.64.0.1")).toBe("late.test");
  expect(table.size).toBe(65_536);
});

test("an address with an open connection is not given away, however old", () => {
  let now = 0;
  const table = new NameTable({ capacity: 2, nowMs: () => now });
  const held = table.take("held.test")!;
  held.connections = 1;
  table.take("idle.test");
  now = 10 * tenMinutes;
  expect(table.take("next.test")?.address).toBe("127.64.0.2");
  expect(table.nameAt("127.64.0.1")).toBe("held.test");
  held.connections = 0;
  // Its ten minutes begin when it was last in use.
  expect(table.take("more.test")).toBeUndefined();
});

test("whatever is asked for and whenever, no two names share an address and none moves too early", () => {
  const step = fc.record({
    name: fc.integer({ min: 0, max: 9 }),
    waitMs: fc.integer({ min: 0, max: tenMinutes }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let now = 0;
      const table = new NameTable({ capacity: 4, nowMs: () => now });
      const lastUse = new Map<string, { name: string; atMs: number }>();
      for (const { name, waitMs } of steps) {
        now += waitMs;
        const entry = table.take(`n${name}.test`);
        if (!entry) continue;
        const before = lastUse.get(entry.address);
        if (before && before.name !== entry.name)
          expect(now - before.atMs).toBeGreaterThanOrEqual(tenMinutes);
        lastUse.set(entry.address, { name: entry.name, atMs: now });
        expect(table.nameAt(entry.address)).toBe(entry.name);
        expect(table.size).toBeLessThanOrEqual(4);
      }
    }),
  );
});
