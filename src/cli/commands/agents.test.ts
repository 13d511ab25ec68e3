import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import type { Client } from "../../client/index.ts";
import type { AgentInfo, InstallAgent, InstallStep } from "../../contract/api/schemas.ts";
import type { InstalledTool } from "../../contract/tool.ts";
import { parseArguments } from "../line/arguments.ts";
import type { CommandContext } from "../command.ts";
import { installMissing } from "../new-box/install-agent.ts";
import { Screen, type ScreenStreams } from "../render/screen.ts";
import { findCommand } from "../table/index.ts";

let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "abx-agents-"));
  await writeFile(join(project, "agentbox.toml"), "version = 1\n");
});
afterAll(() => rm(project, { recursive: true }));

const tool = (version: string, agent = "claude"): InstalledTool => ({
  agent,
  version,
  source: "npm",
  digest: `sha256:${"ab".repeat(32)}`,
  bytes: 3 * 2 ** 20,
  files: 2,
  installedAtMs: 1,
});

const info = (name: string, more: Partial<AgentInfo> = {}): AgentInfo => ({
  name,
  title: name,
  description: "An agent.",
  kind: "agent",
  origin: "built-in",
  isHeadless: true,
  installed: [],
  options: {},
  hosts: [],
  traps: [],
  ...more,
});

interface Answers {
  readonly agents?: readonly AgentInfo[];
  readonly steps?: readonly InstallStep[];
  readonly checks?: unknown;
}

async function run(line: string, answers: Answers = {}) {
  const command = findCommand("agents")!;
  const args = parseArguments(command, line.split(" ").filter(Boolean));
  const stdout = new PassThrough();
  const streams = { stdin: new PassThrough(), stdout, stderr: new PassThrough() } as unknown as ScreenStreams;
  const installs: [string, InstallAgent][] = [];
  const client = {
    listAgents: async () => answers.agents ?? [],
    async *installAgent(agent: string, body: InstallAgent) {
      installs.push([agent, body]);
      yield* answers.steps ?? [{ type: "done", tool: tool(body.version ?? "1.0.0", agent) }];
    },
    removeAgent: async (_agent: string, { version }: { version?: string }) => ({
      removed: [version ?? "1.0.0"],
    }),
    checkAgents: async () => answers.checks,
  } as unknown as Client;
  const context = {
    command,
    args,
    screen: new Screen(streams, { isJson: args.isSet("json"), noColor: true }),
    cwd: project,
    env: { userHome: "/nowhere" },
    connect: async () => client,
  } as unknown as CommandContext;
  const code = await (await command.load()).run(context);
  return { code, installs, context, client, stdout: (stdout.read() as Buffer | null)?.toString() ?? "" };
}

describe("agents", () => {
  it("lists what there is and what is installed", async () => {
    const agents = [
      info("claude", { pinned: "1.0.0", recommended: "2.0.0", installed: [tool("1.0.0"), tool("0.9.0")] }),
      info("shell", { kind: "command" }),
      info("mine", { origin: "user" }),
    ];
    const { stdout } = await run("", { agents });
    expect(stdout).toMatch(/claude +1\.0\.0 \(\+ 0\.9\.0\) +2\.0\.0 +6 MiB +built-in/);
    expect(stdout).toMatch(/shell +built in/);
    expect(stdout).toMatch(/mine +not installed .* yours/);
    expect(JSON.parse((await run("ls --json", { agents })).stdout)).toEqual({ agents });
  });

  it("adds a version, from a path, for the project", async () => {
    expect((await run("add claude@1.2.3")).installs).toEqual([["claude", { version: "1.2.3" }]]);
    expect((await run("add cursor --from here/it")).installs).toEqual([
      ["cursor", { from: join(project, "here/it") }],
    ]);
    const { installs, stdout } = await run("add claude --project");
    expect(installs).toEqual([["claude", { projectDir: project }]]);
    expect(stdout).toContain("claude 1.0.0");
  });

  it("says what went wrong, also when the daemon goes away", async () => {
    const steps: InstallStep[] = [
      { type: "progress", message: "Fetching" },
      { type: "error", error: { code: "tool.unsupported", message: "No.", hint: "Other." } },
    ];
    await expect(run("add claude", { steps })).rejects.toMatchObject({
      code: "tool.unsupported",
      hint: "Other.",
    });
    await expect(run("add claude", { steps: steps.slice(0, 1) })).rejects.toMatchObject({
      code: "tool.install_failed",
    });
    for (const line of ["add", "add @1", "add claude@", "add claude@1@2", "add a b", "rm"])
      await expect(run(line)).rejects.toMatchObject({ code: "input.invalid" });
    await expect(run("ad claude")).rejects.toMatchObject({ hint: "Did you mean: agentbox agents add" });
  });

  it("updates to what was tested, or to the latest, and says from where", async () => {
    const agents = [
      info("claude", { pinned: "1.0.0", recommended: "2.0.0" }),
      info("codex", { recommended: "3.0.0" }),
      info("cursor", { pinned: "local-1" }),
    ];
    const { installs, stdout } = await run("update", { agents });
    expect(installs).toEqual([["claude", { version: "2.0.0" }]]);
    expect(stdout).toContain("claude  1.0.0 → 2.0.0");
    expect((await run("update codex --latest", { agents })).installs).toEqual([
      ["codex", { version: "latest" }],
    ]);
    await expect(run("update cursor", { agents })).rejects.toMatchObject({ code: "input.invalid" });
    await expect(run("update claud", { agents })).rejects.toMatchObject({ code: "agent.unknown" });
  });

  it("removes, and checks: broken is exit code 1", async () => {
    expect((await run("rm claude@1.0.0")).stdout).toBe("Removed claude 1.0.0.\n");
    const absent = {
      agent: "codex",
      status: "absent",
      detail: "not installed",
      fix: "agentbox agents add codex",
    };
    const broken = { agent: "claude", status: "broken", version: "1.0.0", detail: "x: it was added" };
    expect((await run("doctor", { checks: [absent] })).code).toBe(0);
    const { code, stdout } = await run("doctor", { checks: [absent, broken] });
    expect(code).toBe(1);
    expect(stdout).toContain("fix: agentbox agents add codex");
  });

  it("installs what a box misses without moving the pin of the host", async () => {
    const { context, client, installs } = await run("");
    const missing = new AgentBoxError("tool.not_installed", "Not there.", {
      facts: { agent: "claude", version: "1.2.3" },
    });
    expect(await installMissing(context, client, missing)).toMatchObject({ version: "1.2.3" });
    expect(installs).toEqual([["claude", { version: "1.2.3", keepPin: true }]]);
  });
});
