/** The command that the page prints, read by the command line itself: it says what the form says. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "smol-toml";
import { parseArguments } from "../src/cli/line/arguments.ts";
import { typedValues } from "../src/cli/new-box/set-flag.ts";
import { findCommand } from "../src/cli/table/index.ts";
import { commandLine, commandWords } from "../web/src/new-box/command-line.ts";
import { type Draft, type Values, emptyDraft, withValue } from "../web/src/new-box/draft.ts";
import { presets } from "../web/src/new-box/presets.ts";
import { formToml } from "../web/src/new-box/form-toml.ts";
import type { Schema } from "../web/src/new-box/schema-fields.ts";

const schema = JSON.parse(
  readFileSync(new URL("../schema/agentbox.schema.json", import.meta.url), "utf8"),
) as Schema;

async function readBack(draft: Draft) {
  const [command = "", ...argv] = commandWords(draft);
  const spec = findCommand(command)!;
  const args = parseArguments(spec, argv);
  return {
    values: (await typedValues(args, "/p", spec.flags)) ?? {},
    name: args.text("name") ?? "",
    task: args.text("task") ?? "",
    agents: args.text("agents")?.split(",") ?? [],
    runs: args.integer("n") ?? 1,
  };
}

const text = fc
  .string({ unit: "grapheme", maxLength: 12 })
  .filter((value) => !value.includes("\0") && value.isWellFormed());
const hyphens = fc.oneof(
  text,
  text.map((value) => `--${value}`),
);
const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const section = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  some(fc.record(shape, { requiredKeys: [] }));
const path = fc.oneof(fc.constantFrom("/srv/data", "/a b", "~/x", "data", "/a:b"), hyphens);

const values = fc
  .record({
    agent: section({
      name: fc.constantFrom("shell", "claude"),
      version: fc.constant("1.2.3"),
      autonomy: fc.constantFrom("ask", "edit", "full"),
      args: fc.array(hyphens, { maxLength: 3 }),
      options: fc.dictionary(word, fc.oneof(fc.boolean(), hyphens), { minKeys: 1, maxKeys: 3 }),
      instructions: text,
    }),
    model: section({ name: hyphens, aliases: fc.dictionary(word, word, { minKeys: 1, maxKeys: 2 }) }),
    budget: section({
      run: fc.record({
        tokens: fc.integer({ min: 1, max: 1e12 }),
        usd: fc.constantFrom(0.000001, 2.5, 1_000_000),
      }),
      day: fc.record({ usd: fc.constantFrom(1, 0.5) }),
    }),
    workspace: section({
      mode: fc.constantFrom("clone", "copy"),
      url: fc.constant("https://example.org/r.git"),
      carry: fc.constantFrom("none", "dirty"),
    }),
    resources: section({
      cpus: fc.constantFrom(0.5, 2),
      memory: fc.constant("2GiB"),
      pids: fc.constant(100),
    }),
    network: section({
      default: fc.constantFrom("deny", "ask"),
      learn: fc.boolean(),
      presets: fc.array(hyphens, { maxLength: 2 }),
      allow: fc.array(hyphens, { maxLength: 2 }),
      rules: fc.array(fc.record({ host: text, ports: fc.array(fc.integer({ min: 1, max: 99 })) }), {
        minLength: 1,
        maxLength: 2,
      }),
    }),
    env: some(
      fc.dictionary(word, fc.oneof(text, fc.record({ from_host: word })), { minKeys: 1, maxKeys: 3 }),
    ),
    mounts: some(
      fc.array(fc.record({ source: path, target: path, access: fc.constantFrom("read", "write") }), {
        maxLength: 2,
      }),
    ),
    services: some(
      fc.dictionary(word, fc.record({ command: fc.oneof(text, fc.array(text)) }), { minKeys: 1, maxKeys: 2 }),
    ),
    check: some(fc.array(fc.record({ name: word, command: text }), { minLength: 1, maxLength: 2 })),
  })
  .map((sections) => JSON.parse(JSON.stringify(sections)) as Record<string, object>)
  // An empty section is left out.
  .map(
    (sections) =>
      Object.fromEntries(
        Object.entries(sections).filter(([, entries]) => Object.keys(entries).length > 0),
      ) as Values,
  );

const shape = {
  projectDir: fc.constant("/p"),
  task: hyphens,
  name: fc.constantFrom("", "shop"),
  starts: fc.boolean(),
  values,
  rivals: fc.constant([]),
  runs: fc.constant(1),
};
const draft = fc.record(shape);

describe("the command of a form", () => {
  it("is read by the command line as what the form says", async () => {
    await fc.assert(
      fc.asyncProperty(draft, async (form) => {
        const back = await readBack(form);
        expect(back.values).toEqual(form.values);
        expect(back.name).toBe(form.name);
        if (form.starts && form.task.trim() !== "") expect(back.task).toBe(form.task);
      }),
      { numRuns: 300 },
    );
  });

  it("is a race of the agents that the form names", async () => {
    const race = fc.record({
      ...shape,
      rivals: fc.constantFrom(["codex"], ["codex", "gemini"]),
      runs: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(race, async (form) => {
        const named = withValue(form.values, ["agent", "name"], "claude");
        const back = await readBack({ ...form, values: named });
        expect(back.agents).toEqual(["claude", ...form.rivals]);
        expect(back.runs).toBe(Math.max(form.runs, 1));
        expect(back.name).toBe(form.name);
        if (form.task.trim() !== "") expect(back.task).toBe(form.task);
        expect(withValue(back.values as Values, ["agent", "name"], "claude")).toEqual(named);
      }),
      { numRuns: 100 },
    );
  });

  it.each(presets.map((preset) => [preset.title, preset.values] as const))(
    "works for the preset %s",
    async (_title, preset) => {
      expect((await readBack({ ...emptyDraft, values: preset })).values).toEqual(preset);
    },
  );

  it("is what a person would have typed, where there are flags", () => {
    expect(
      commandLine(
        {
          ...emptyDraft,
          projectDir: "/srv/my shop",
          task: "Fix the tests; it's urgent",
          name: "shop",
          starts: true,
          values: {
            agent: { name: "claude", options: { max_turns: 20 } },
            network: { presets: ["npm"], allow: ["api.example.org"] },
            env: { A: "b c" },
            services: { web: { command: "npm start" } },
          },
        },
        "sha256:aa",
      ),
    ).toBe(
      `cd '/srv/my shop' && agentbox run claude --name shop --task 'Fix the tests; it'\\''s urgent' --option max_turns=20 --preset npm --allow api.example.org --env 'A=b c' --set 'services.web = { command = "npm start" }' --trust sha256:aa --detach`,
    );
  });
});

describe("the manifest of a form", () => {
  it("reads back as what the form says", () => {
    fc.assert(
      fc.property(values, (form) => {
        const { version, ...read } = JSON.parse(JSON.stringify(parse(formToml(form, schema)))) as Values;
        expect(version).toBe(1);
        expect(read).toEqual(form);
      }),
      { numRuns: 300 },
    );
  });
});
