/** A catalogue entry: data and pure functions. Core knows no agent by name; everything particular about one is here. */
import type { z } from "zod";
import type { AgentEvent } from "./agent-events.ts";
import type { McpServer } from "./mcp.ts";
import type { ModelApi } from "./model/api.ts";

/** How the agent's program comes into the tool store. It is never installed inside a box. */
export type InstallRecipe =
  /** It is part of every box. */
  | { readonly kind: "none" }
  /** `bin` is the name of the program in node_modules/.bin; absent: the only one, or that of the package's own name. */
  | {
      readonly kind: "npm";
      readonly package: string;
      readonly version: string;
      readonly bin?: string | undefined;
    }
  | { readonly kind: "pypi"; readonly package: string; readonly version: string; readonly bin: string }
  /** Not on a registry: a person installs it and names the file or directory; `bin` is the program in it. */
  | { readonly kind: "path"; readonly bin: string; readonly hint: string };

/** How much the agent may do without asking, inside the box. */
export const autonomyLevels = ["ask", "edit", "full"] as const;
export type Autonomy = (typeof autonomyLevels)[number];

/** A file that must be there before the agent starts; boxd writes it, as the box's own user. */
export interface SeedFile {
  /** Relative to the home, without `..`. */
  readonly path: string;
  readonly text: string;
  /**
   * `replace`: ours replaces the file. `absent`: only where the file does not exist. `merge`: a JSON object in which
   * our keys win and other keys, which the agent wrote, stay.
   */
  readonly how: "replace" | "absent" | "merge";
}

export interface LaunchRequest {
  readonly mode: "interactive" | "headless";
  /** The task; always there in headless mode, the first prompt (if any) in interactive mode. */
  readonly task?: string | undefined;
  /** Go on with a conversation. Without an id: the latest one in this home. */
  readonly resume?: { readonly conversation?: string | undefined } | undefined;
  /** A fresh UUID, for agents that let us choose the id of a new conversation. */
  readonly newConversation: string;
  readonly autonomy: Autonomy;
  /** Checked by the entry's own schema, defaults filled in. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The person's arguments after `--`, passed on as they are. */
  readonly args: readonly string[];
  /** The model to ask for; undefined when none was chosen and the entry has no default. */
  readonly model?: string | undefined;
  /** Absolute path of the agent's program in the box. */
  readonly program: string;
  /** `http://model.agentbox.internal/<provider>`, without a slash at the end, and the placeholder for the key. */
  readonly endpoint: { readonly baseUrl: string; readonly token: string };
  readonly mcp: readonly McpServer[];
  /** Text the agent must read as its standing instructions. */
  readonly instructions?: string | undefined;
  /** Directory in the box that holds skills, one directory each with a SKILL.md. */
  readonly skillsDir?: string | undefined;
  readonly workspace: string;
  readonly home: string;
}

export interface Launch {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly SeedFile[];
  /** Links to make in the home, such as the place where it looks for skills: relative path → absolute target. */
  readonly links?: Readonly<Record<string, string>> | undefined;
}

/** Turns what the agent writes into events; made anew for each session, so it may remember what came before. */
export type LineReader = (line: string) => readonly AgentEvent[];

export interface AgentEntry {
  readonly name: string;
  readonly title: string;
  /** One sentence for `agentbox run --help`. */
  readonly description: string;
  /** `command`: runs what was typed, with the person's stdio (shell, demo). `agent`: works on a task with a model. */
  readonly kind: "command" | "agent";
  readonly install: InstallRecipe;
  /** Flat: texts, numbers, switches and choices, each with a description. Flags, forms and checks come from it. */
  readonly options: z.ZodObject;
  /** The API it speaks to the model gateway; without one it needs no model. */
  readonly api?: ModelApi | undefined;
  readonly defaultModel?: string | undefined;
  /** Whether it can work without a terminal. */
  readonly isHeadless: boolean;
  /** Whether a new conversation gets the id we choose; otherwise it says its own (`session_started`). */
  readonly takesConversationId: boolean;
  launch(request: LaunchRequest): Launch;
  /** Reads lines of stdout in headless mode. */
  readonly readOutput?: (() => LineReader) | undefined;
  /** Reads lines that the agent's own hooks append to `hooksFile` (see contract/box-paths.ts), in any mode. */
  readonly readHooks?: (() => LineReader) | undefined;
  /** The keys that submit a text in its terminal and interrupt it. */
  readonly keys: { readonly submit: string; readonly interrupt: string };
  /** Where it keeps what it knows, and where a login would be; relative to the home. */
  readonly statePaths: readonly string[];
  readonly loginPaths: readonly string[];
  /** Hosts it needs beside the model gateway; empty for all that are tuned well. */
  readonly hosts: readonly string[];
  /** Surprises about it, for `agents doctor` and the docs; one sentence each. */
  readonly traps: readonly string[];
}
