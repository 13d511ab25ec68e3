/** Recorded lines with anything in place of any of their values: what agents print tomorrow may look like that. */
import { readFileSync, readdirSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { AgentEvent } from "../../contract/agent-events.ts";
import { agents } from "../index.ts";

const fixtures = new URL("../fixtures/", import.meta.url);
const files = readdirSync(fixtures).filter((name) => /^(claude|codex|copilot)-/.test(name));

/** Replaces one value, at a depth that the numbers say. */
function replaceIn(value: unknown, path: readonly number[], replacement: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined || typeof value !== "object" || value === null) return replacement;
  const keys = Object.keys(value);
  if (keys.length === 0) return replacement;
  const at = keys[first % keys.length]!;
  const entries = Object.entries(value).map(([key, old]) => [
    key,
    key === at ? replaceIn(old, rest, replacement) : old,
  ]);
  return Array.isArray(value) ? entries.map(([, kept]) => kept) : Object.fromEntries(entries);
}

it.each(files)("%s, changed anywhere, gives valid events or none", (name) => {
  const lines = readFileSync(new URL(name, fixtures), "utf8").split("\n").filter(Boolean);
  const entry = agents[name.split("-")[0]!]!;
  const make = name.includes("hooks") ? entry.readHooks! : entry.readOutput!;
  const control = make();
  expect(lines.flatMap((line) => control(line)).length).toBeGreaterThan(0);
  fc.assert(
    fc.property(
      fc.nat(),
      fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
      fc.oneof(fc.jsonValue(), fc.string({ minLength: 5_000, maxLength: 6_000 })),
      (at, path, replacement) => {
        const read = make();
        const changed = lines.map((line, index) =>
          index === at % lines.length ? JSON.stringify(replaceIn(JSON.parse(line), path, replacement)) : line,
        );
        for (const line of changed) for (const event of read(line)) AgentEvent.parse(event);
      },
    ),
  );
});
