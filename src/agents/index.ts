/** The catalogue: every agent AgentBox can put in a box, by name. */
import type { AgentEntry } from "../contract/agent.ts";
import { aider } from "./aider.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { demo } from "./demo.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { qwen } from "./qwen.ts";
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
