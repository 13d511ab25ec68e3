import { describe, expect, it } from "vitest";
import { type Conversation, type DeclaredTool, message, readConversation } from "./conversation.ts";
import { nextStep } from "./script.ts";
import { writeFileAndRun } from "./write-file-and-run.ts";

const tool = (
  name: string,
  properties: Record<string, unknown>,
  required: readonly string[] = Object.keys(properties),
): DeclaredTool => ({ name, kind: "function", schema: { type: "object", properties, required } });

const text = { type: "string" };
const freeform = (name: string): DeclaredTool => ({ name, kind: "freeform", schema: {} });

/** The tools of each agent, as far as they matter, and the calls that are right for them. */
const agents = {
  claude: {
    tools: [tool("Bash", { command: text }), tool("Write", { file_path: text, content: text })],
    writes: { tool: "Write", arguments: { file_path: "/w/a.txt", content: "a\n" } },
    runs: { tool: "Bash", arguments: { command: "ls" } },
  },
  codex: {
    tools: [tool("exec_command", { cmd: text }), freeform("apply_patch")],
    writes: { tool: "apply_patch", input: "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch" },
    runs: { tool: "exec_command", arguments: { cmd: "ls" } },
  },
  "codex with a shell only": {
    tools: [tool("shell", { command: { type: "array", items: text } })],
    writes: {
      tool: "shell",
      arguments: { command: ["bash", "-lc", "cat > 'a.txt' <<'END_OF_FILE'\na\nEND_OF_FILE"] },
    },
    runs: { tool: "shell", arguments: { command: ["bash", "-lc", "ls"] } },
  },
  "codex with code only": {
    tools: [freeform("exec")],
    writes: { tool: "exec", input: expect.stringContaining("a.txt") },
    runs: { tool: "exec", input: `text(JSON.stringify(await tools.exec_command({ cmd: "ls" })));` },
  },
  qwen: {
    tools: [
      tool("write_file", { file_path: text, content: text }),
      tool("run_shell_command", { command: text, is_background: { type: "boolean" } }),
    ],
    writes: { tool: "write_file", arguments: { file_path: "/w/a.txt", content: "a\n" } },
    runs: { tool: "run_shell_command", arguments: { command: "ls", is_background: false } },
  },
  opencode: {
    tools: [
      tool("bash", { command: text, description: text }),
      tool("write", { filePath: text, content: text }),
    ],
    writes: { tool: "write", arguments: { filePath: "/w/a.txt", content: "a\n" } },
    runs: { tool: "bash", arguments: { command: "ls", description: "scripted" } },
  },
  copilot: {
    tools: [tool("bash", { command: text }), tool("create", { path: text, file_text: text })],
    writes: { tool: "create", arguments: { path: "/w/a.txt", file_text: "a\n" } },
    runs: { tool: "bash", arguments: { command: "ls" } },
  },
};

const script = writeFileAndRun({ file: "a.txt", text: "a\n", command: "ls" });
const prompt = (words: string) => message("user", { text: words });
const round = [
  message("assistant", { calls: [{ id: "1", name: "x", input: {} }] }),
  message("tool", { results: [{ id: "1", text: "ok" }] }),
];

const conversation = (parts: Partial<Conversation>): Conversation =>
  readConversation({
    api: "chat",
    model: "m",
    system: "Working directory: /w",
    messages: [prompt("go")],
    tools: [],
    stream: true,
    ...parts,
  });

describe("the script that writes a file and runs a command", () => {
  it.each(Object.entries(agents))("uses the tools of %s", async (_name, { tools, writes, runs }) => {
    const step = async (rounds: number) =>
      await nextStep(
        script,
        conversation({
          tools,
          messages: [prompt("go"), ...Array.from({ length: rounds }, () => round).flat()],
        }),
      );
    expect((await step(0)).calls).toEqual([writes]);
    expect((await step(1)).calls).toEqual([runs]);
    expect(await step(2)).toEqual({ text: "done" });
  });

  it("starts again on a follow-up, with a numbered file", async () => {
    const { tools } = agents.claude;
    const done = message("assistant", { text: "done" });
    const messages = [prompt("go"), ...round, ...round, done, prompt("again")];
    const resumed = conversation({ tools, messages });
    expect(resumed).toMatchObject({ turn: 2, round: 0, prompts: ["go", "again"] });
    expect((await nextStep(script, resumed)).calls).toMatchObject([
      { arguments: { file_path: "/w/a-2.txt" } },
    ]);
  });

  it("writes edits as text for a client without tools", async () => {
    const aider = conversation({ system: "Answer with a *SEARCH/REPLACE block*." });
    const { text: words } = await nextStep(script, aider);
    expect(words).toContain("a.txt\n```\n<<<<<<< SEARCH\n=======\na\n>>>>>>> REPLACE\n```");
    const whole = conversation({ system: "Return the complete *file listing*." });
    expect((await nextStep(script, whole)).text).toContain("a.txt\n```\na\n```");
  });

  it("only says done when there is no tool for the work", async () => {
    expect(await nextStep(script, conversation({ tools: [tool("think", {})] }))).toEqual({ text: "done" });
  });
});

describe("a conversation", () => {
  it("does not take what clients add by themselves for a prompt", () => {
    const reminder = prompt("<system-reminder>\nBe brief.\n</system-reminder>");
    const one = conversation({ messages: [reminder, prompt("go"), ...round, reminder] });
    expect(one).toMatchObject({ prompts: ["go"], turn: 1, round: 1 });
  });

  it("counts a preamble that the client lets its model acknowledge as no turn", () => {
    const preamble = [prompt("We set up the context."), message("assistant", { text: "Got it." })];
    expect(conversation({ messages: [...preamble, prompt("go")] })).toMatchObject({ turn: 1, round: 0 });
  });

  it("counts two calls at once as one round", () => {
    const calls = ["1", "2"].map((id) => ({ id, name: "x", input: {} }));
    const results = ["1", "2"].map((id) => ({ id, text: "ok" }));
    const both = [message("assistant", { calls }), message("tool", { results })];
    expect(conversation({ messages: [prompt("go"), ...both] })).toMatchObject({ round: 1, results });
  });

  it.each([
    "<cwd>/w/x</cwd>",
    "Primary working directory: /w/x\nNext",
    "I'm currently working in the directory: /w/x\n",
    "- **Workspace Directories:**\n  - /w/x\n",
  ])("finds the directory in %j", (system) => {
    expect(conversation({ system }).directory).toBe("/w/x");
  });
});
