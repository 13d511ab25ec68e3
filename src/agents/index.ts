/** The catalogue: every agent AgentBox can put in a box, by name. */
import type { AgentEntry } from "../contract/agent.ts";
import { aider } from "./aider.ts";
import { claude } from "./claude/claude.ts";
import { codex } from "./codex/codex.ts";
import { copilot } from "./copilot/copilot.ts";
import { cursor } from "./cursor/cursor.ts";
import { demo } from "./demo.ts";
import { gemini } from "./gemini/gemini.ts";
import { opencode } from "./opencode/opencode.ts";
import { qwen } from "./qwen/qwen.ts";
import { shell } from "./shell.ts";

export const agents: Readonly<Record<string, AgentEntry>> = {
  shell,
  demo,
  claude,
  codex,
  gemini,
  qwen,
  opencode,
  copilot,
  aider,
  cursor,
};
