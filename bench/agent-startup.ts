// Start-up of each agent in a box against the same program outside it: from its start to its first question at the
// model, in turns, median of 5. Outside it runs as the box's kind of user (unprivileged, fresh home, the same settings)
// and asks the model directly; inside, its question goes through boxd, the gate and the gateway.
import { spawn } from "node:child_process";
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agents } from "../src/agents/index.ts";
import { waitFor } from "../src/base/wait-for.ts";
import { seedHome } from "../src/boxd/files/seed-home.ts";
import type { AgentEntry, Launch } from "../src/contract/agent.ts";
import { type ScriptedModel, startScriptedModel } from "../test/model/scripted-model.ts";
import { type TestDaemon, withDaemon } from "../test/support/daemon.ts";
import { type Bench, type Result, alternateValues, compare } from "./support/bench.ts";

const name = "agent-startup";
const measured = ["claude", "codex", "gemini", "qwen", "opencode", "copilot"];
const user = { uid: 1000, gid: 1000 };
const goal = 1.1;

const firstQuestion = (model: ScriptedModel, before: number): Promise<number> =>
  waitFor(
    "the first question",
    () =>
      model.requests
        .slice(before)
        .find(({ api }) => api !== "none")
        ?.at.getTime(),
    60_000,
  );

async function inside(daemon: TestDaemon, model: ScriptedModel, agent: string): Promise<number> {
  const before = model.requests.length;
  const { box } = await daemon.client.createBox({
    flags: { agent: { name: agent }, workspace: { mode: "empty" } },
    run: { mode: "headless", task: "Say hello." },
  });
  const startedMs = (
    await daemon.client.listEvents({ box: box.name, type: "box.started", limit: 1, order: "newest" })
  ).events[0]!.atMs;
  const askedMs = await firstQuestion(model, before);
  await daemon.client.removeBox(box.name, { force: true });
  return askedMs - startedMs;
}

function launchOutside(entry: AgentEntry, program: string, model: ScriptedModel, home: string): Launch {
  return entry.launch({
    mode: "headless",
    task: "Say hello.",
    newConversation: crypto.randomUUID(),
    autonomy: "full",
    options: entry.options.parse({}),
    args: [],
    model: entry.defaultModel,
    program,
    endpoint: { baseUrl: model.url, token: "key" },
    mcp: [],
    workspace: join(home, "work"),
    home,
  });
}

async function outside(entry: AgentEntry, program: string, model: ScriptedModel): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), "agentbox-bench-home-"));
  const launch = launchOutside(entry, program, model, home);
  await seedHome([...launch.files, { path: "work/.keep", text: "", how: "replace" }], {}, home);
  for (const file of ["", ...readdirSync(home, { recursive: true, encoding: "utf8" })])
    chownSync(join(home, file), user.uid, user.gid);
  const before = model.requests.length;
  const startedMs = Date.now();
  const [file, ...args] = launch.argv;
  const child = spawn(file, args, {
    cwd: join(home, "work"),
    env: { ...launch.env, HOME: home, PATH: process.env["PATH"], TERM: "xterm-256color", LANG: "C.UTF-8" },
    stdio: "ignore",
    detached: true,
    ...(process.getuid?.() === 0 ? user : {}),
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    return (await firstQuestion(model, before)) - startedMs;
  } finally {
    process.kill(-child.pid!, "SIGKILL");
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
}

function writeConfig({ home }: TestDaemon, { url }: ScriptedModel): void {
  const providers = ["anthropic", "openai", "gemini"].map(
    (provider) =>
      `[model.providers.${provider}]\napi = "${provider}"\nbase_url = "${url}"\nkey_env = "TEST_MODEL_KEY"\n`,
  );
  writeFileSync(join(home, "config.toml"), providers.join("\n"), { mode: 0o600 });
}

async function measure(daemon: TestDaemon, model: ScriptedModel, agent: string): Promise<Result> {
  const row = `${name}-${agent}`;
  // Loaded late: which agents may be installed is read from the environment when it is.
  const { giveAgent, whyNoAgent } = await import("../test/support/installed-agents.ts");
  const missing = await whyNoAgent(agent);
  if (missing !== undefined) return { name: row, skipped: missing };
  await giveAgent(daemon, agent);
  const entry = agents[agent]!;
  const program = await programOf(daemon, agent);
  const times = await alternateValues(
    5,
    () => inside(daemon, model, agent),
    () => outside(entry, program, model),
  );
  return compare({ name: row, unit: "ms", ...times, peerName: `${agent} outside a box`, goal });
}

/** As the store has it on this host. */
async function programOf(daemon: TestDaemon, agent: string): Promise<string> {
  const { openToolStore } = await import("../src/services/tool-store/index.ts");
  const { systemClock } = await import("../src/host/clock.ts");
  const { readHostEnv } = await import("../src/host/env.ts");
  const { OrderFiles } = await import("../src/host/ownership.ts");
  const store = openToolStore({
    dir: join(daemon.home, "tools/agents"),
    lockFile: join(daemon.home, "agentbox.lock"),
    orders: new OrderFiles(readHostEnv()),
    isRoot: process.getuid?.() === 0,
    env: process.env,
    clock: systemClock,
  });
  const { dir, program } = await store.use(agent, agents[agent]!.install);
  return join(dir, program);
}

const bench: Bench = {
  name,
  about: "from the start of an agent to its first question, in a box against outside it",
  async run() {
    // All of them; the tests use one by default.
    process.env["AGENTBOX_TEST_AGENTS"] ??= "all";
    await using model = await startScriptedModel({ script: [{ text: "Hello." }] });
    return await withDaemon(
      async (daemon) => {
        writeConfig(daemon, model);
        const results: Result[] = [];
        for (const agent of measured) results.push(await measure(daemon, model, agent));
        return results;
      },
      { env: { TEST_MODEL_KEY: "sk-bench-0123456789" } },
    );
  },
};
export default bench;
