/** `agentbox init` in a project: the manifest fits it, says why, and can be used as it is, without a network. */
import { existsSync, lstatSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { giveFixture } from "../support/agents.ts";

const node = JSON.stringify({ scripts: { test: "node --test" } });

describe("agentbox init", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon?.[Symbol.asyncDispose]());

  const project = (files: Readonly<Record<string, string>> = { "package.json": node }) => {
    const dir = mkdtempSync(join(daemon.scratch, "init-"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
    return dir;
  };
  const init = (cwd: string, ...args: string[]) => daemon.cli(["init", "--yes", ...args], { cwd });

  it("writes what fits the project, with the schema beside it, and the manifest is valid", async () => {
    const dir = project();
    const { code, stdout, stderr } = await init(dir);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `Wrote ${join(dir, "agentbox.toml")}. Next: agentbox run\n`,
    });
    expect(stderr).toContain("Project: npm");
    const text = readFileSync(join(dir, "agentbox.toml"), "utf8");
    expect(parse(text)).toEqual({
      version: 1,
      agent: { name: "shell" },
      workspace: { mode: "copy" },
      lifecycle: { ttl: "8h" },
      network: { presets: ["npm"] },
      check: [{ name: "test", command: "npm test" }],
    });
    const named = /^#:schema (\S+)$/m.exec(text)?.[1] ?? "";
    expect(JSON.parse(readFileSync(join(dir, named), "utf8"))).toMatchObject({ title: "agentbox.toml" });
    expect(await daemon.cli(["validate"], { cwd: dir })).toMatchObject({ code: 0 });
  });

  it("names an agent that is installed, and says why", async () => {
    await giveFixture(daemon, "notebot");
    const { stdout } = await init(project({}), "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      values: { agent: { name: "notebot" } },
      reason: "it is installed",
      project: [],
    });
  });

  it("writes nothing with --print", async () => {
    const dir = project();
    const { code, stdout } = await init(dir, "--print", "--no-schema");
    expect(code).toBe(0);
    expect(parse(stdout)).toMatchObject({ check: [{ name: "test", command: "npm test" }] });
    expect(stdout).not.toContain("#:schema");
    expect(["agentbox.toml", "agentbox.schema.json"].filter((name) => existsSync(join(dir, name)))).toEqual(
      [],
    );
  });

  it("leaves a manifest that is there as it is, unless it is told to replace it", async () => {
    const dir = project({ "agentbox.toml": "version = 1\n" });
    const refused = await init(dir, "--json");
    expect(refused.code).not.toBe(0);
    expect(refused.stderr + refused.stdout).toContain("manifest.exists");
    expect(readFileSync(join(dir, "agentbox.toml"), "utf8")).toBe("version = 1\n");
    expect(await init(dir, "--force")).toMatchObject({ code: 0 });
    expect(readFileSync(join(dir, "agentbox.toml"), "utf8")).toContain("[workspace]");
  });

  it("writes through no link that the project has put in its place", async () => {
    const outside = join(mkdtempSync(join(daemon.scratch, "outside-")), "file");
    writeFileSync(outside, "mine");
    const dir = project({});
    for (const name of ["agentbox.toml", "agentbox.schema.json"]) symlinkSync(outside, join(dir, name));
    expect(await init(dir, "--force")).toMatchObject({ code: 0 });
    expect(readFileSync(outside, "utf8")).toBe("mine");
    expect(lstatSync(join(dir, "agentbox.toml")).isSymbolicLink()).toBe(false);
    expect(lstatSync(join(dir, "agentbox.schema.json")).isSymbolicLink()).toBe(true);
  });
});
