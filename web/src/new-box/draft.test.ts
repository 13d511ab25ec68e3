import { expect, it } from "vitest";
import { emptyDraft, requestOf, valueAt, withValue, withValues } from "./draft.ts";

it("sets a value deep down, and forgets sections that say nothing any more", () => {
  const set = withValue({}, ["budget", "run", "tokens"], 5);
  expect(set).toEqual({ budget: { run: { tokens: 5 } } });
  expect(valueAt(set, ["budget", "run", "tokens"])).toBe(5);
  expect(withValue(set, ["budget", "run", "tokens"], undefined)).toEqual({});
  expect(withValue({ env: { A: "" } }, ["env", "A"], "x")).toEqual({ env: { A: "x" } });
});

it("puts a preset over what is there", () => {
  const below = { agent: { name: "claude", autonomy: "full" }, network: { allow: ["a.example"] } };
  expect(withValues(below, { agent: { autonomy: "ask" }, network: { allow: ["b.example"] } })).toEqual({
    agent: { name: "claude", autonomy: "ask" },
    network: { allow: ["b.example"] },
  });
});

it("reaches no prototype", () => {
  withValue({}, ["__proto__", "polluted"], "yes");
  withValues({}, JSON.parse('{"__proto__":{"polluted":"yes"}}') as Record<string, unknown>);
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
  expect(valueAt({}, ["constructor", "name"])).toBeUndefined();
});

it("asks for what was filled in and nothing else", () => {
  expect(requestOf(emptyDraft, undefined)).toEqual({
    flags: {},
    start: true,
    ephemeral: true,
    main: { terminal: true, cols: 120, rows: 40 },
    run: { mode: "interactive", cols: 120, rows: 40 },
  });
  const project = { dir: "/p", manifest: { file: "/p/agentbox.toml", text: "version = 1\n" } };
  const draft = { ...emptyDraft, name: "shop", task: "Fix it", values: { agent: { name: "claude" } } };
  expect(requestOf(draft, project, "sha256:aa")).toEqual({
    name: "shop",
    projectDir: "/p",
    manifest: project.manifest,
    flags: { agent: { name: "claude" } },
    trust: "sha256:aa",
    start: true,
    ephemeral: false,
    run: { mode: "headless", task: "Fix it" },
  });
  expect(requestOf({ ...draft, starts: false }, undefined)).toEqual({
    name: "shop",
    flags: { agent: { name: "claude" } },
    start: false,
  });
});
