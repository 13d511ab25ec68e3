/** An agent that is defined only in a fixture: launched as its file says, against the scripted model, and understood. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { agents } from "../src/agents/index.ts";
import { agentFromToml } from "../src/agents/user-defined/user-agent.ts";
import type { LaunchRequest } from "../src/contract/agent.ts";
import type { AgentEvent } from "../src/contract/agent-events.ts";
import { startScriptedModel } from "./model/scripted-model.ts";

const fixtures = fileURLToPath(new URL("fixtures/agents", import.meta.url));
const notebot = agentFromToml(readFileSync(join(fixtures, "notebot.toml"), "utf8"), "notebot.toml");
let dir: string;

beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), "notebot-"))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const request = (baseUrl: string, task: string): LaunchRequest => ({
  mode: "headless",
  task,
  newConversation: "11111111-2222-3333-4444-555555555555",
  autonomy: "full",
  options: notebot.options.parse({}),
  args: [],
  program: join(fixtures, "notebot", "notebot"),
  endpoint: { baseUrl, token: "sk-agentbox-placeholder" },
  mcp: [],
  workspace: dir,
  home: dir,
});

async function run(wanted: LaunchRequest): Promise<AgentEvent[]> {
  const { argv, env } = notebot.launch(wanted);
  const [program, ...args] = argv;
  const searchPath = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const child = spawn(program, args, {
    cwd: dir,
    env: { HOME: dir, PATH: searchPath, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for await (const chunk of child.stdout) output += String(chunk);
  const read = notebot.readOutput!();
  return output.split("\n").flatMap((line) => read(line));
}

it("is no part of the catalogue", () => {
  expect(Object.keys(agents)).not.toContain("notebot");
});

it("works on a task, is understood, and goes on with the same conversation", async () => {
  await using model = await startScriptedModel({ script: [{ text: "Hello from the model." }] });
  const events = await run(request(model.url, "--say hello; $(touch owned)"));
  expect(events).toEqual([
    { kind: "session_started", conversation: expect.any(String), model: "gpt-5" },
    { kind: "message", role: "agent", text: "Hello from the model." },
    { kind: "tool_called", id: "write-1", tool: "write", summary: "note.txt" },
    { kind: "tool_answered", id: "write-1", isError: false, summary: "" },
    { kind: "file_changed", path: "note.txt", change: "created" },
    { kind: "turn_done", isError: false, text: "Hello from the model." },
  ]);
  expect(readFileSync(join(dir, "note.txt"), "utf8")).toBe("Hello from the model.\n");

  const [started] = events;
  const conversation = started?.kind === "session_started" ? started.conversation : "";
  const again = await run({ ...request(model.url, "And again"), resume: { conversation } });
  expect(again[0]).toMatchObject({ kind: "session_started", conversation });
  expect(model.requests.map(({ conversation: seen }) => seen?.messages.length)).toEqual([1, 3]);
});

it("says when the model refuses", async () => {
  await using model = await startScriptedModel({ script: [{ fault: { kind: "error", status: 401 } }] });
  const events = await run(request(model.url, "Say hello"));
  expect(events.at(-2)).toMatchObject({ kind: "error", isFatal: true });
  expect(events.at(-1)).toEqual({ kind: "turn_done", isError: true });
});
