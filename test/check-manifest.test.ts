import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "smol-toml";
import type { Core } from "../src/core/context.ts";
import { checkManifest } from "../src/core/plan/check-manifest.ts";
import { formHandlers } from "../src/daemon/handlers/form-handlers.ts";
import { createMemoryModule } from "../src/drivers/runtime/memory/index.ts";
import { listProjects } from "../src/core/manifest/list-projects.ts";
import { type TestHost, createOn, eventTypes, openTestCore, openTestHost } from "./support/core.ts";

const memory = { runtime: { name: "memory" } };
let host: TestHost;
let core: Core & AsyncDisposable;

beforeEach(async () => {
  host = await openTestHost();
  core = await openTestCore(host);
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

/** A project with these files; nothing else exists on the host. */
function plant(files: Readonly<Record<string, string | undefined>>): void {
  const dirs = ["/p", "/p/app", "/p/app/src", "/"];
  Object.assign(core.ports.host, {
    realPath: async (path: string) => (dirs.includes(path) || path in files ? path : undefined),
    readProjectFile: async (dir: string, name: string) => files[`${dir === "/" ? "" : dir}/${name}`],
  });
  Object.assign(core.ports.workspaces, { defaultMode: async () => "copy" });
}

describe("a form that is right", () => {
  it("is answered with the box as it would be made, and makes none", async () => {
    const flags = { ...memory, lifecycle: { ttl: "2h" }, network: { allow: ["example.org"] } };
    const check = await checkManifest(core, { flags });
    expect(check.findings).toEqual([]);
    expect(check.problems).toEqual([]);
    expect(check.summary).toMatchObject({
      name: "box-shell",
      spec: { agent: { name: "shell" }, runtime: "memory", lifecycle: { ttlMs: 7_200_000 } },
      isolation: { tier: "none" },
    });
    expect(check.summary!.network.map(({ what }) => what)).toContain("example.org:80,443");
    expect(await core.ports.store.listBoxes()).toEqual([]);
    expect(await eventTypes(core)).toEqual([]);
    const { box } = await createOn(core, { flags, start: false });
    expect(box.spec).toEqual(check.summary!.spec);
  });

  it("comes back as the text of a manifest that says the same", async () => {
    const flags = {
      agent: { name: "shell", args: ['a"b', "c\nd"] },
      services: { web: { command: ["npm", "start"], ready: { port: 3000 } } },
      mounts: [{ source: "/srv/data", target: "/data" }],
      check: [{ name: "test", command: "npm test" }],
    };
    const { toml } = await checkManifest(core, { flags });
    expect(parse(toml)).toEqual({ version: 1, ...flags });
  });
});

describe("a form that is wrong", () => {
  it("gets every finding with the place it belongs to", async () => {
    const flags = { resources: { memory: "much" }, lifecycle: { ttl: "soon" }, network: { allow: ["*"] } };
    const { findings, summary, toml } = await checkManifest(core, { flags });
    expect(findings.map(({ path }) => path)).toEqual([
      "resources.memory",
      "lifecycle.ttl",
      "network.allow[0]",
    ]);
    const line = toml.split("\n")[findings[0]!.line - 1];
    expect(line).toContain("much");
    expect(summary).toBeUndefined();
  });

  it.each([
    ["a section of another kind", { agent: "shell" }],
    ["nothing where a section is", { agent: null }],
    ["a section that does not exist", { nonsense: { a: 1 } }],
    ["hidden characters", { agent: { args: ["a\u202eb"] } }],
  ])("is refused: %s", async (_what, flags) => {
    const { findings } = await checkManifest(core, { flags });
    expect(findings.filter(({ severity }) => severity === "error")).not.toEqual([]);
  });

  it("says which name cannot be had", async () => {
    await createOn(core, { name: "shop", start: false });
    const taken = await checkManifest(core, { name: "shop", flags: memory });
    expect(taken.problems.map(({ code }) => code)).toEqual(["box.name_taken"]);
    const bad = await checkManifest(core, { name: "Shop!", flags: memory });
    expect(bad.problems.map(({ code }) => code)).toEqual(["box.name_invalid"]);
  });

  it("says what cannot be enforced, and leaves no trace of having asked", async () => {
    const { problems } = await checkManifest(core, { flags: { ...memory, resources: { memory: "1GiB" } } });
    expect(problems.map(({ code }) => code)).toEqual(["policy.unenforceable"]);
    expect(await eventTypes(core)).toEqual([]);
  });

  it("says what must be installed first", async () => {
    await using keyed = await openTestCore(host, { hostVariable: () => "a-key" });
    const { problems, summary } = await checkManifest(keyed, {
      flags: { ...memory, agent: { name: "claude" } },
    });
    expect(problems.map(({ code }) => code)).toEqual(["tool.not_installed"]);
    expect(summary?.spec.agent.name).toBe("claude");
  });
});

describe("a project", () => {
  const manifest = 'version = 1\n[[mounts]]\nsource = "/p"\ntarget = "/data"\n';

  it("is found above the directory that was named, with what it asks for", async () => {
    plant({ "/p/app/agentbox.toml": manifest });
    const check = await checkManifest(core, { projectDir: "/p/app/src", flags: memory });
    expect(check.project).toEqual({
      dir: "/p/app",
      manifest: { file: "/p/app/agentbox.toml", text: manifest },
    });
    expect(check.trust).toMatchObject({
      isTrusted: false,
      requests: ["read /p of the host, as /data"],
      digest: expect.stringMatching(/^sha256:/),
    });
    // Looking is no refusal: no question has been asked yet.
    expect(await eventTypes(core)).toEqual([]);
  });

  it("ends at the root of its repository", async () => {
    plant({ "/p/agentbox.toml": manifest, "/p/app/.git": "" });
    const check = await checkManifest(core, { projectDir: "/p/app/src", flags: memory });
    expect(check.project).toEqual({ dir: "/p/app/src" });
  });

  it("whose manifest is no plain file is refused", async () => {
    plant({ "/p/app/agentbox.toml": undefined });
    const check = await checkManifest(core, { projectDir: "/p/app", flags: memory });
    expect(check.problems.map(({ code }) => code)).toContain("file.failed");
  });

  it("with a wrong manifest gets findings of the file", async () => {
    plant({ "/p/app/agentbox.toml": "version = 1\n[agent]\nnam = 1\n" });
    const { findings } = await checkManifest(core, { projectDir: "/p/app", flags: memory });
    expect(findings).toMatchObject([
      { in: "file", file: "/p/app/agentbox.toml", path: "agent.nam", line: 3 },
    ]);
  });

  it("is listed when a box was made from it", async () => {
    plant({ "/p/app/agentbox.toml": "version = 1\n" });
    Object.assign(core.ports.workspaces, { prepare: async () => ({ leftBehind: 0 }) });
    Object.assign(core.ports.reviews, { create: async () => undefined });
    await createOn(core, { projectDir: "/p/app", start: false });
    const boxes = await core.ports.store.listBoxes();
    expect(await listProjects(core, { boxes, includesTrusted: true })).toMatchObject([
      { dir: "/p/app", boxes: 1, hasManifest: true, isTrusted: false },
    ]);
    expect(await listProjects(core, { boxes: [], includesTrusted: false })).toEqual([]);
  });
});

it("offers the names that this host knows, and no runtime that isolates nothing", async () => {
  await using more = await openTestCore(host, { runtimes: { other: createMemoryModule() } });
  type Asked = Parameters<typeof formHandlers.getManifestSchema>[0];
  const answer = await formHandlers.getManifestSchema({ deps: { core: more } } as unknown as Asked);
  expect(answer?.choices["runtime.name"]).toEqual(["other"]);
  expect(answer?.choices["agent.name"]).toContain("claude");
  expect(answer?.schema).toMatchObject({ title: "agentbox.toml", properties: { agent: { type: "object" } } });
});
