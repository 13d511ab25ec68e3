import type { AgentEntry } from "../contract/agent.ts";
import type { Client } from "../client/index.ts";
import type { HostEnv } from "../host/env.ts";
import type { Arguments } from "./line/arguments.ts";
import type { Screen } from "./render/screen.ts";

/** One flag of a command, as data: parsing, help and completion all read it. */
export interface FlagSpec {
  readonly type: "switch" | "text" | "list";
  readonly short?: string;
  /** Stands for the value in help, such as NAME. */
  readonly value?: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  /** It sets this option of the agent. */
  readonly option?: string;
}

/** The kinds of things that a word of the line can name. */
export type CompletionKind =
  | "agent"
  | "box"
  | "checkpoint"
  | "command"
  | "event"
  | "file"
  | "filter"
  | "port"
  | "preset"
  | "removed"
  | "runtime"
  | "secret"
  | "template";

export type CommandGroup = "Work" | "Review" | "Boxes" | "Look" | "Network" | "Secrets" | "Project" | "Host";

/** One command, as data. Its code is loaded only when it runs, because every module costs start-up time. */
export interface CommandSpec {
  readonly name: string;
  readonly group: CommandGroup;
  readonly summary: string;
  /** The usage line after `agentbox `. */
  readonly usage: string;
  readonly examples: readonly string[];
  readonly flags: Readonly<Record<string, FlagSpec>>;
  /** Fewest and most arguments. */
  readonly takes: readonly [number, number];
  /** Whether what follows `--` is a command that belongs to the box. */
  readonly takesRest?: boolean;
  /** Whether the options of the agent that is named first are flags, too. */
  readonly takesAgentOptions?: boolean;
  /** Kinds of the first argument, for completion. */
  readonly completes?: CompletionKind | readonly string[];
  /** Kinds of the arguments after it. */
  readonly completesNext?: CompletionKind;
  /** Whether its exit code is that of a command in the box, so that its own failures need other codes. */
  readonly passesExitCode?: boolean;
  load(): Promise<{ run: RunCommand }>;
}

/** Everything a command gets to work with. */
export interface CommandContext {
  readonly command: CommandSpec;
  readonly args: Arguments;
  readonly screen: Screen;
  readonly env: HostEnv;
  readonly cwd: string;
  /** The file that was started, so that the daemon can be started from the same one. */
  readonly program: string;
  /** Speaks to the daemon; starts one when the first call finds none. */
  readonly connect: () => Promise<Client>;
  readonly loadCatalogue: () => Promise<Catalogue>;
}

/** Drivers and agents by name, handed in by main: the command line may not import them. */
export interface Catalogue {
  readonly agents: Readonly<Record<string, AgentEntry>>;
  readonly runtimeNames: readonly string[];
  /** Only a manifest is checked against them, so they are not loaded with the rest. */
  readonly loadPresetNames: () => Promise<readonly string[]>;
}

/** Resolves to the exit code. */
export type RunCommand = (context: CommandContext) => Promise<number>;
