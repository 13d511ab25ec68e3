/** Ground for tests with agents: a daemon whose providers are all one scripted model, and projects to work on. */
import {
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { AgentEvent, Verdict } from "../../src/contract/agent-events.ts";
import type { Box } from "../../src/contract/box.ts";
import type { BoxEvent, EventType } from "../../src/contract/events.ts";
import type { UsageTotals } from "../../src/contract/model/usage.ts";
import type { LoggedRequest } from "../model/model-desk.ts";
import { type Script, nextStep } from "../model/script.ts";
import { type ScriptedModel, startScriptedModel } from "../model/scripted-model.ts";
import { writeFileAndRun } from "../model/write-file-and-run.ts";
import { type TestDaemon, type TestDaemonOptions, startDaemon } from "./daemon.ts";
import { giveAgent, whyNoAgent } from "./installed-agents.ts";
import { type ProgramOptions, type ProgramResult, runProgram } from "./program.ts";
import { runtimeConfig, testRuntime, whyNoBoxes } from "./test-runtime.ts";

/** The daemon's key for the model, which no box may ever hold. */
export const testKey = "sk-real-key-canary-4b1f9d";
const keyVariable = "TEST_MODEL_KEY";

const repository = new URL("../../", import.meta.url).pathname;

export interface AgentGround {
  readonly daemon: TestDaemon;
  readonly model: ScriptedModel;
  /** The model's answers from now on. */
  readonly play: (script: Script) => void;
  /** A git repository of one commit with these files in it. */
  readonly project: (files?: Readonly<Record<string, string>>) => Promise<string>;
}

export interface AgentGroundOptions extends TestDaemonOptions {
  /** Real agents that must be there; the tests are skipped, by name, where one cannot be. */
  readonly agents?: readonly string[];
  /** Agents of `test/fixtures/agents`, defined and installed. */
  readonly fixtures?: readonly string[];
  /** Added to the person's own config.toml. */
  readonly config?: string;
}

/** Why these cases cannot run, for all of them. */
async function whyNoGround({ agents = [], user }: AgentGroundOptions): Promise<string | undefined> {
  for (const agent of agents) {
    const missing = await whyNoAgent(agent);
    if (missing !== undefined) return missing;
  }
  return whyNoBoxes(user);
}

/** Runs the cases with one daemon and one model for all of them. */
export function onAgents(
  title: string,
  options: AgentGroundOptions,
  cases: (ground: AgentGround) => void,
): void {
  describe(title, () => {
    let ground: (AgentGround & AsyncDisposable) | undefined;
    let missing: string | undefined;
    const get = (): AgentGround => {
      if (ground === undefined) throw new Error("There is no daemon.");
      return ground;
    };
    beforeAll(async () => {
      missing = await whyNoGround(options);
      if (missing === undefined) ground = await openGround(options);
    }, 600_000);
    beforeEach((ctx) => {
      if (missing !== undefined) ctx.skip(missing);
      ground?.play(writeFileAndRun());
    });
    afterAll(() => ground?.[Symbol.asyncDispose]());
    cases({
      get daemon() {
        return get().daemon;
      },
      get model() {
        return get().model;
      },
      play: (script) => get().play(script),
      project: (files) => get().project(files),
    });
  });
}

async function openGround(options: AgentGroundOptions): Promise<AgentGround & AsyncDisposable> {
  const user = options.user ?? testRuntime?.user;
  let script: Script = writeFileAndRun();
  const model = await startScriptedModel({ script: (conversation) => nextStep(script, conversation) });
  const daemon = await startDaemon({ ...options, env: { [keyVariable]: testKey, ...options.env } });
  writeConfig(daemon, model, options.config);
  for (const agent of options.agents ?? []) await giveAgent(daemon, agent, user);
  for (const agent of options.fixtures ?? []) await giveFixture(daemon, agent);
  return {
    daemon,
    model,
    play(next) {
      script = next;
    },
    project: (files = {}) => makeProject(daemon, files, user),
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

/** A person's own config: the built-in providers, at the scripted model. */
export function writeConfig({ home }: TestDaemon, { url }: { readonly url: string }, more = ""): void {
  const providers = ["anthropic", "openai", "gemini"].map(
    (name) => `[model.providers.${name}]\napi = "${name}"\nbase_url = "${url}"\nkey_env = "${keyVariable}"\n`,
  );
  const file = join(home, "config.toml");
  writeFileSync(file, `${providers.join("\n")}\n${more}\n${runtimeConfig}`, { mode: 0o600 });
  const { uid, gid } = statSync(home);
  chownSync(file, uid, gid);
}

export async function giveFixture(daemon: TestDaemon, agent: string): Promise<void> {
  const fixtures = join(repository, "test/fixtures/agents");
  const directory = join(daemon.home, "agents");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  cpSync(join(fixtures, `${agent}.toml`), join(directory, `${agent}.toml`));
  const { uid, gid } = statSync(daemon.home);
  for (const path of [directory, join(directory, `${agent}.toml`)]) chownSync(path, uid, gid);
  const { code, stderr } = await daemon.cli(["agents", "add", agent, "--from", join(fixtures, agent)]);
  if (code !== 0) throw new Error(`agents add ${agent} ended with ${code}: ${stderr}`);
}

async function makeProject(
  daemon: TestDaemon,
  files: Readonly<Record<string, string>>,
  user: TestDaemonOptions["user"],
): Promise<string> {
  const directory = mkdtempSync(join(daemon.scratch, "project-"));
  for (const [file, text] of Object.entries({ "README.md": "# Project\n", ...files })) {
    mkdirSync(join(directory, file, ".."), { recursive: true });
    writeFileSync(join(directory, file), text);
  }
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    [...who, "commit", "-qm", "First"],
  ])
    await runProgram(["git", "-C", directory, ...args]);
  if (user) await runProgram(["chown", "-R", `${user.uid}:${user.gid}`, directory]);
  return directory;
}

export interface FinishedRun extends ProgramResult {
  readonly events: readonly AgentEvent[];
  readonly ended:
    | { readonly verdict: Verdict; readonly why: string; readonly usage: UsageTotals }
    | undefined;
}

/** A command that watches a run to its end with --json: `run AGENT --task …` or `send BOX …`. */
export async function watch(
  daemon: TestDaemon,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<FinishedRun> {
  const result = await daemon.cli([...args, "--json"], { timeoutMs: 110_000, ...options });
  const lines = result.stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { kind: string });
  return {
    ...result,
    events: lines as unknown as AgentEvent[],
    ended: lines.find(({ kind }) => kind === "ended") as unknown as FinishedRun["ended"],
  };
}

/** All events of a type about a box, the oldest first. */
export const eventsOf = async ({ client }: TestDaemon, box: string, type: EventType): Promise<BoxEvent[]> =>
  (await client.listEvents({ box, type, limit: 1_000 })).events;

export const boxOf = async ({ client }: TestDaemon, name: string): Promise<Box> =>
  (await client.getBox(name)).box;

export const untilState = (
  daemon: TestDaemon,
  name: string,
  state: string,
  timeoutMs = 40_000,
): Promise<Box> =>
  waitFor(
    `the agent in ${name} is ${state}`,
    async () => {
      const box = await boxOf(daemon, name);
      return box.run?.state === state ? box : undefined;
    },
    timeoutMs,
  );

const quietMs = 1_200;

/** A person who looks at the terminal until it shows a prompt and nothing moves any more. */
export async function untilQuiet({ client }: TestDaemon, box: string, prompt = ""): Promise<void> {
  const stream = await client.attach(box, "main", { cols: 120, rows: 40, readOnly: true });
  let [lastMs, text] = [performance.now(), ""];
  stream.onData((chunk) => {
    [lastMs, text] = [performance.now(), text + Buffer.from(chunk).toString()];
  });
  const isQuiet = () => text.length > 200 && text.includes(prompt) && performance.now() - lastMs > quietMs;
  try {
    await waitFor(`the terminal of ${box} is quiet`, isQuiet, 30_000);
  } catch (error) {
    throw new Error(`${(error as Error).message} It shows: ${JSON.stringify(text.slice(-2_000))}`, {
      cause: error,
    });
  } finally {
    stream.close();
  }
}

/** Files below a directory of the host that hold a text, for canaries. */
export async function filesWith(directory: string, text: string): Promise<readonly string[]> {
  const { stdout } = await runProgram(["grep", "-rlaF", "--devices=skip", "--", text, directory]);
  return stdout.split("\n").filter((line) => line !== "");
}

export const fileOf = async (
  { client }: TestDaemon,
  box: string,
  path: string,
): Promise<string | undefined> => {
  const { paths } = await client.getBox(box);
  const isThere = readdirSync(paths.workspace).includes(path);
  return isThere ? readFileSync(join(paths.workspace, path), "utf8") : undefined;
};

/** Questions to the model since an earlier count, without titles, classifiers and the like. */
export const questionsSince = ({ requests }: ScriptedModel, before: number): readonly LoggedRequest[] =>
  requests.slice(before).filter(({ api, isSideCall }) => api !== "none" && !isSideCall);
