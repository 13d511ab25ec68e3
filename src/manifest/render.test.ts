import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findHiddenInValue } from "./toml/hidden-text.ts";
import { parseManifest } from "./parse.ts";
import { renderManifest } from "./render.ts";
import type { ManifestValues } from "./schema.ts";

const text = fc
  .string({ unit: "grapheme", maxLength: 30 })
  .filter((value) => findHiddenInValue(value) === undefined);
const command = fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 3 })).filter((value) => {
  const program = typeof value === "string" ? value : value[0]!;
  return program.trim() !== "";
});
const envName = fc.stringMatching(/^X_[A-Z0-9_]{0,8}$/);
const serviceName = fc
  .stringMatching(/^[a-z][a-z0-9-]{0,10}$/)
  .filter((name) => name !== "constructor" && name !== "prototype");
const duration = fc
  .tuple(fc.integer({ min: 1, max: 59 }), fc.constantFrom("s", "m", "h"))
  .map(([n, unit]) => `${n}${unit}`);
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const ready = fc.oneof(
  fc.integer({ min: 1, max: 65_535 }).map((port) => ({ port })),
  command.map((value) => ({ command: value })),
  fc.constantFrom("up", "listening on \\d+", '"ready"').map((log) => ({ log })),
);
const service = fc.record({
  command,
  cwd: some(fc.constant("web")),
  env: some(fc.dictionary(envName, text)),
  ready: some(ready),
  ready_timeout: some(duration),
});
const manifest = fc.record({
  agent: some(fc.record({ name: fc.constant("shell"), args: some(fc.array(text, { maxLength: 4 })) })),
  model: some(
    fc.record({
      name: some(fc.constantFrom("some-model", "a/b:c")),
      aliases: some(fc.dictionary(serviceName, fc.constantFrom("some-model", "x"))),
      providers: some(
        fc.dictionary(
          serviceName,
          fc.constant({ api: "openai" as const, base_url: "https://models.example.org" }),
          { maxKeys: 3 },
        ),
      ),
    }),
  ),
  budget: some(
    fc.record({
      run: some(fc.integer({ min: 1, max: 1e12 }).map((tokens) => ({ tokens }))),
      day: some(fc.double({ min: 0.000_001, max: 1e6, noNaN: true }).map((usd) => ({ usd }))),
    }),
  ),
  mcp: some(
    fc.record({
      servers: fc.dictionary(serviceName, fc.record({ command: fc.constant("npx"), args: fc.array(text) }), {
        maxKeys: 3,
      }),
    }),
  ),
  workspace: some(fc.record({ mode: fc.constantFrom("clone", "copy", "empty", "mount") })),
  resources: some(
    fc.record({
      cpus: some(fc.double({ min: 0.01, max: 1024, noNaN: true })),
      pids: some(fc.integer({ min: 8, max: 10_000 })),
      memory: some(fc.constantFrom("2GiB", "512 MiB")),
    }),
  ),
  lifecycle: some(fc.record({ ttl: some(duration), idle: some(duration) })),
  mounts: some(
    fc
      .uniqueArray(fc.nat(99), { maxLength: 3 })
      .map((ids) => ids.map((id) => ({ source: `data ${id}`, target: `/data/${id}` }))),
  ),
  env: some(
    fc.dictionary(
      envName,
      fc.oneof(
        text,
        envName.map((from_host) => ({ from_host })),
      ),
    ),
  ),
  services: some(fc.dictionary(serviceName, service, { maxKeys: 4 })),
});

/** Without what is not set, and without sections that would be empty. */
const plain = (values: unknown): unknown =>
  Object.fromEntries(
    Object.entries(JSON.parse(JSON.stringify(values)) as Record<string, object>).filter(
      ([, section]) => Object.keys(section).length > 0,
    ),
  );

describe("rendering a manifest", () => {
  it("gives a text that reads back as the same values", () => {
    fc.assert(
      fc.property(manifest, (values) => {
        const rendered = renderManifest(values);
        const parsed = parseManifest(rendered, { file: "agentbox.toml" });
        expect(
          parsed.findings.filter((f) => f.severity === "error"),
          rendered,
        ).toEqual([]);
        expect(plain(parsed.layer!.values)).toEqual(plain(values));
      }),
      { numRuns: 300 },
    );
  });

  it("is pleasant to read", () => {
    const values: ManifestValues = {
      agent: { name: "shell" },
      mounts: [{ source: "~/data", target: "/data" }],
      env: { CI: { from_host: "CI" } },
      services: { web: { command: "npm run dev", ready: { port: 3000 } } },
    };
    expect(renderManifest(values, { schema: "schema.json" })).toBe(`#:schema schema.json

version = 1

# Which agent works in the box.
[agent]
name = "shell"

# Directories and files of the host that the box can see. Each asks for trust.
[[mounts]]
source = "~/data"
target = "/data"

# Environment variables of everything in the box.
[env]
CI = { from_host = "CI" }

# Programs that run in the box beside the agent, each under its name.
[services.web]
command = "npm run dev"
ready = { port = 3000 }
`);
  });
});
