import { z } from "zod";
import type { AgentEntry, Autonomy, Launch, LaunchRequest, SeedFile } from "../../contract/agent.ts";
import { readCursorOutput } from "./events.ts";
import { mcpServersJson } from "../launch/mcp-servers-json.ts";

const options = z.strictObject({
  mode: z
    .enum(["plan", "ask"])
    .optional()
    .describe("Only plan the work, or only answer questions. Default: it works on the files."),
});

/** The actions that it may take unasked when it is not forced: entries of Cursor's own permission list. */
const allowed: Record<Autonomy, readonly string[]> = {
  ask: ["Read(**)"],
  edit: ["Read(**)", "Write(**)"],
  full: ["Read(**)", "Write(**)"],
};

function launch(request: LaunchRequest): Launch {
  const { mode, program, model, autonomy, resume, mcp } = request;
  const prompt = promptOf(request);
  return {
    argv: [
      program,
      ...(mode === "headless" ? ["--print", "--output-format", "stream-json"] : []),
      // The box is made for this workspace, so there is nothing left to ask.
      "--trust",
      ...(autonomy === "full" ? ["--force", "--sandbox", "disabled"] : []),
      ...(mcp.length > 0 ? ["--approve-mcps"] : []),
      ...(model === undefined ? [] : ["--model", model]),
      ...modeFlags(request),
      ...(resume ? (resume.conversation ? ["--resume", resume.conversation] : ["--continue"]) : []),
      ...request.args,
      // SECURITY: after `--` a task that begins with a dash is a text and no flag.
      ...(prompt === undefined ? [] : ["--", prompt]),
    ],
    env: {},
    files: seedFiles(request),
    ...(request.skillsDir && { links: { ".cursor/skills": request.skillsDir } }),
  };
}

function modeFlags({ options: chosen }: LaunchRequest): string[] {
  const { mode } = options.parse(chosen);
  return mode === undefined ? [] : ["--mode", mode];
}

/** It reads standing instructions from the workspace only, which is not ours to write to: they come first instead. */
function promptOf({ task, instructions, resume }: LaunchRequest): string | undefined {
  if (task === undefined || instructions === undefined || resume) return task;
  return `${instructions}\n\n${task}`;
}

function seedFiles({ autonomy, mcp }: LaunchRequest): SeedFile[] {
  const config = {
    version: 1,
    editor: { vimMode: false },
    permissions: { allow: allowed[autonomy], deny: [] },
    // The gate speaks HTTP/1.1, on which its streams need this setting.
    network: { useHttp1ForAgent: true },
  };
  return [
    { path: ".cursor/cli-config.json", text: JSON.stringify(config, undefined, 2), how: "merge" },
    { path: ".cursor/mcp.json", text: mcpServersJson(mcp), how: "replace" },
  ];
}

/** Written from Cursor's public documentation; its program is not on a registry and needs an account. */
export const cursor: AgentEntry = {
  name: "cursor",
  title: "Cursor",
  description: "Cursor's agent for the terminal, with your own Cursor account.",
  kind: "agent",
  install: {
    kind: "path",
    bin: "cursor-agent",
    hint: "Install Cursor's CLI as its site says, then run: agentbox agents add cursor --from PATH",
  },
  options,
  isHeadless: true,
  takesConversationId: false,
  launch,
  readOutput: readCursorOutput,
  keys: { submit: "\r", interrupt: "\u0003" },
  statePaths: [".cursor", ".config/cursor", ".local/share/cursor-agent"],
  loginPaths: [".config/cursor/auth.json"],
  hosts: ["*.cursor.sh", "*.cursorapi.com", "*.cursor-cdn.com"],
  traps: [
    "It talks to Cursor's own servers only: the model gateway does not see it, so AgentBox counts no tokens and holds no budget.",
    "Its hosts must be allowed in the manifest: *.cursor.sh, *.cursorapi.com and *.cursor-cdn.com.",
    "It needs your login: set CURSOR_API_KEY in the manifest's [env], and know that the box then holds that key.",
    "Without a terminal and below autonomy full it only proposes changes and does not make them.",
    "Standing instructions are put in front of the first task, because it reads them from the workspace only.",
    "It cannot update itself in a box: add a newer one with agentbox agents add cursor --from PATH.",
  ],
};
