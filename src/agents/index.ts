/** The catalogue: every agent AgentBox can put in a box, by name. */
import type { AgentEntry } from "../contract/agent.ts";
import { demo } from "./demo.ts";
import { shell } from "./shell.ts";

export const agents: Readonly<Record<string, AgentEntry>> = { shell, demo };
