import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isAgentBoxError } from "../src/base/errors.ts";
import { isRemediable, problemsOf } from "../src/contract/plan.ts";
import type { Core } from "../src/core/context.ts";
import { buildImage } from "../src/core/images/build-image.ts";
import type { BoxPlan, PlanInputs } from "../src/core/plan/box-plan.ts";
import { planBox } from "../src/core/plan/plan-box.ts";
import { createMemoryModule } from "../src/drivers/runtime/memory/index.ts";
import { type TestHost, createOn, eventTypes, openTestCore, openTestHost } from "./support/core.ts";
import { memoryVault } from "./support/secrets.ts";

/** A runtime that this host does not have. */
const absent = () => ({
  ...createMemoryModule(),
  name: "absent",
  probe: async () => ({
    status: "absent" as const,
    reason: "it is not installed",
    fix: { hint: "Install it.", packages: [] },
  }),
});

let host: TestHost;
let core: Core & AsyncDisposable;
let installs: number;
let keys: Record<string, string>;

beforeEach(async () => {
  [installs, keys] = [0, {}];
  host = await openTestHost();
  core = await openTestCore(host, {
    runtimes: { absent: absent() },
    vault: memoryVault(),
    hostVariable: (name) => keys[name],
  });
  Object.assign(core.ports.host, {
    realPath: async (path: string) => (path.startsWith("/gone") ? undefined : path),
  });
  Object.assign(core.ports.workspaces, {
    defaultMode: async () => "empty",
    prepare: async () => ({ leftBehind: 0 }),
  });
  const install = async () => void (installs += 1);
  Object.assign(core.ports, { toolStore: { ...core.ports.toolStore, install } });
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const memory = { runtime: { name: "memory" } };
const plan = (inputs: Partial<PlanInputs> = {}): Promise<BoxPlan> =>
  planBox(
    { makes: "box", ...inputs, flags: { ...memory, ...inputs.flags } },
    { ...core.ports, secretGrants: core.secretGrants },
  );
const codesOf = ({ problems }: Pick<BoxPlan, "problems">): string[] => problems.map(({ code }) => code);
const manifest = (text: string) => ({ file: "/p/agentbox.toml", text: `version = 1\n${text}` });
const claude = { agent: { name: "claude" } };

/** A tool store that has every agent. */
const installAll = () =>
  Object.assign(core.ports.toolStore, {
    use: async (agent: string) => ({
      tool: { agent, version: "1.0.0", digest: `sha256:${"0".repeat(64)}`, source: "npm" },
      dir: "/tools",
      program: "run",
    }),
  });

describe("a plan", () => {
  it("says everything about a box that can be made, and changes nothing", async () => {
    const { problems, spec, isolation, network, command, trust } = await plan({
      flags: { agent: { name: "shell", args: ["make", "test"] } },
      exec: true,
    });
    expect(problems).toEqual([]);
    expect(spec).toMatchObject({ agent: { name: "shell" }, runtime: "memory" });
    expect(isolation).toMatchObject({ tier: "none" });
    expect(network).toBeDefined();
    expect(command).toEqual({ kind: "exec", argv: ["make", "test"], env: {} });
    expect(trust).toBeUndefined();
    expect(await core.ports.store.listBoxes()).toEqual([]);
    expect(await eventTypes(core)).toEqual([]);
  });

  it("tells several problems at once, what can be solved on the way last", async () => {
    await createOn(core, { name: "shop", start: false });
    const before = await eventTypes(core);
    const several = await plan({
      name: "shop",
      projectDir: "/p",
      manifest: manifest('[env]\nA = { from_host = "NO_A" }\nB = { from_host = "NO_B" }\n'),
      flags: {
        ...claude,
        runtime: { name: "absent" },
        workspace: { mode: "empty" },
        mounts: [{ source: "/gone/data", target: "/data" }],
      },
      exec: true,
    });
    expect(codesOf(several)).toEqual([
      "box.name_taken",
      "mount.invalid",
      "manifest.invalid",
      "manifest.invalid",
      "runtime.absent",
      "model.no_key",
      "input.invalid",
      "trust.required",
      "tool.not_installed",
    ]);
    expect(several.problems.map(({ message }) => message).join("\n")).toMatch(/NO_A[^]*NO_B/);
    expect(await eventTypes(core)).toEqual(before);
  });

  const one: readonly (readonly [string, Partial<PlanInputs>, string])[] = [
    ["a name of another form", { name: "Shop!" }, "box.name_invalid"],
    ["a file that breaks a rule", { manifest: manifest("[agent]\nnam = 1\n") }, "manifest.invalid"],
    ["flags that break a rule", { flags: { resources: { memory: "much" } } }, "input.invalid"],
    ["a directory that is gone", { projectDir: "/gone" }, "workspace.source_invalid"],
    ["a mode without a directory", { flags: { workspace: { mode: "clone" } } }, "workspace.source_invalid"],
    ["a mount that is gone", { flags: { mounts: [{ source: "/gone", target: "/data" }] } }, "mount.invalid"],
    ["a variable that the host lacks", { flags: { env: { A: { from_host: "NO_A" } } } }, "manifest.invalid"],
    ["a life that is too long", { flags: { lifecycle: { ttl: "9999d" } } }, "input.invalid"],
    ["an unknown provider", { flags: { model: { provider: "nobody" } } }, "input.invalid"],
    ["an unknown agent", { flags: { agent: { name: "clod" } } }, "input.invalid"],
    [
      "an option that it lacks",
      { flags: { agent: { name: "shell", options: { loud: "1" } } } },
      "agent.option_invalid",
    ],
    ["a runtime that is not here", { flags: { runtime: { name: "absent" } } }, "runtime.absent"],
    ["a limit that cannot be held", { flags: { resources: { pids: 10 } } }, "policy.unenforceable"],
    [
      "packages in a runtime without images",
      { flags: { runtime: { name: "memory", packages: ["jq"] } } },
      "runtime.unsupported",
    ],
    [
      "a request that nobody has agreed to",
      {
        manifest: manifest('[[mounts]]\nsource = "/p"\ntarget = "/data"\n'),
        projectDir: "/p",
        flags: { workspace: { mode: "empty" } },
      },
      "trust.required",
    ],
    [
      "a yes to something else",
      {
        manifest: manifest('[[mounts]]\nsource = "/p"\ntarget = "/data"\n'),
        projectDir: "/p",
        flags: { workspace: { mode: "empty" } },
        trust: "sha256:0",
      },
      "trust.digest_mismatch",
    ],
    ["a task for commands", { run: { mode: "headless", task: "x", cols: 80, rows: 24 } }, "input.invalid"],
  ];
  it.each(one)("is refused for %s", async (_what, inputs, code) => {
    const { problems } = await plan(inputs);
    expect(problems.map((problem) => problem.code)).toContain(code);
    expect(problems.every(({ message }) => message !== "")).toBe(true);
    expect(await eventTypes(core)).toEqual([]);
  });

  it("is refused for too little disk", async () => {
    Object.assign(core.ports.storage, { freeBytes: async () => 1 });
    expect(codesOf(await plan())).toEqual(["disk.low"]);
    expect(codesOf(await plan({ makes: "image" }))).not.toContain("disk.low");
  });

  it("is refused for both files when both are wrong", async () => {
    const both = await plan({
      manifest: manifest("[agent]\nnam = 1\n"),
      flags: { resources: { memory: "much" } },
    });
    expect(codesOf(both)).toEqual(["manifest.invalid", "input.invalid"]);
  });
});

describe("the key of an agent's model", () => {
  beforeEach(installAll);
  const hints = async (inputs: Partial<PlanInputs>) => (await plan(inputs)).problems.map(({ hint }) => hint);

  it("must be there before the box is", async () => {
    expect(codesOf(await plan({ flags: claude }))).toEqual(["model.no_key"]);
    expect(await hints({ flags: claude })).toEqual([
      expect.stringMatching(/agentbox vault set anthropic.*agentbox login claude/),
    ]);
    expect(await hints({ flags: { agent: { name: "gemini" } } })).toEqual([
      expect.stringMatching(/agentbox vault set gemini/),
    ]);
  });

  it("may come from the vault, the host or the caller's variables", async () => {
    expect(codesOf(await plan({ flags: claude, variables: { ANTHROPIC_API_KEY: "typed" } }))).toEqual([]);
    keys["ANTHROPIC_API_KEY"] = "of-the-host";
    expect(codesOf(await plan({ flags: claude }))).toEqual([]);
    delete keys["ANTHROPIC_API_KEY"];
    const source = { kind: "stored" } as const;
    await core.ports.vault.add({ name: "anthropic", kind: "text", source, value: Buffer.from("key") });
    expect(codesOf(await plan({ flags: claude }))).toEqual([]);
  });

  it("is not wanted for a box of commands, nor for an image", async () => {
    expect(codesOf(await plan({ flags: { model: { provider: "openai" } } }))).toEqual([]);
    expect(codesOf(await plan({ flags: claude, makes: "image" }))).not.toContain("model.no_key");
  });

  it("is not looked up for a manifest that nobody has agreed to, nor with a yes of who may only ask", async () => {
    const asks = {
      projectDir: "/p",
      manifest: manifest('[agent]\nname = "claude"\n[model.providers.anthropic]\nkey = "vault:other"\n'),
      flags: { workspace: { mode: "empty" } },
    };
    const open = await plan(asks);
    expect(codesOf(open)).toEqual(["trust.required"]);
    const trust = open.trust!.digest;
    expect(codesOf(await plan({ ...asks, trust }))).toEqual(["model.no_key"]);
    const asking = codesOf(await plan({ ...asks, trust, isRequest: true }));
    expect(asking).toContain("trust.required");
    expect(asking).not.toContain("model.no_key");
  });
});

describe("what a box is made to run", () => {
  beforeEach(() => {
    installAll();
    keys["ANTHROPIC_API_KEY"] = "key";
  });
  const terminal = { terminal: true, cols: 80, rows: 24 };

  it("is the agent, a session, a command of the caller, or nothing", async () => {
    const commandOf = async (inputs: Partial<PlanInputs>) => (await plan(inputs)).command;
    const run = { mode: "headless" as const, task: "Fix it", cols: 80, rows: 24 };
    expect(await commandOf({ flags: claude, run })).toEqual({
      kind: "agent",
      mode: "headless",
      task: "Fix it",
    });
    expect(await commandOf({ flags: claude })).toEqual({ kind: "none" });
    expect(await commandOf({ main: terminal })).toMatchObject({ kind: "session", main: { terminal: true } });
    expect(await commandOf({ flags: { agent: { name: "shell", args: ["ls"] } } })).toEqual({
      kind: "exec",
      argv: ["ls"],
      env: {},
    });
  });

  it("is refused for an agent without a task", async () => {
    const { problems } = await plan({ flags: claude, exec: true });
    expect(problems).toMatchObject([{ code: "input.invalid", hint: expect.stringContaining("--task") }]);
    const noTask = await plan({ flags: claude, run: { mode: "headless", cols: 80, rows: 24 } });
    expect(codesOf(noTask)).toEqual(["input.invalid"]);
  });
});

describe("a box that a person watches", () => {
  const asks = async (inputs: Partial<PlanInputs>) => {
    const { network, problems } = await plan({ attended: true, ...inputs });
    expect(problems).toEqual([]);
    return network?.default === "ask";
  };

  it("asks about hosts that no rule names when nothing has decided", async () => {
    expect(await asks({})).toBe(true);
    expect(await asks({ attended: false })).toBe(false);
    expect(await asks({ manifest: manifest('[agent]\nname = "shell"\n') })).toBe(true);
  });

  it("leaves it to the manifest, the user config and the flags", async () => {
    expect(await asks({ manifest: manifest("[network]\n") })).toBe(false);
    expect(await asks({ flags: { network: { default: "deny" } } })).toBe(false);
    expect(await asks({ flags: { network: { learn: true } } })).toBe(false);
    const config = (text: string) =>
      Object.assign(core.ports.host, { readUserConfig: async () => ({ file: "/config.toml", text }) });
    config('[network]\ndefault = "deny"\n');
    expect(await asks({})).toBe(false);
    config('[network]\nonly = ["example.org"]\n');
    expect(await asks({})).toBe(true);
  });
});

describe("an image", () => {
  const build = (flagsOf: object) =>
    buildImage(
      core,
      { flags: { ...memory, ...flagsOf }, isFresh: false },
      { onProgress: () => undefined, signal: AbortSignal.timeout(60_000) },
    ).catch((error: unknown) => error);

  it("is refused without an engine before anything could be fetched, with what else is missing", async () => {
    const error = await build(claude);
    if (!isAgentBoxError(error)) throw error;
    expect(problemsOf(error).map(({ code }) => code)).toEqual(["runtime.absent", "tool.not_installed"]);
    expect(problemsOf(error).every(isRemediable)).toBe(false);
    expect(installs).toBe(0);
  });
});
