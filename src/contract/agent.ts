/** A catalogue entry: data and pure functions. Later fields join without changing what is here. */
export interface AgentEntry {
  readonly name: string;
  readonly title: string;
  /** One sentence for `agentbox run --help`. */
  readonly description: string;
  /** The command for a session with a person at the terminal; `args` are what the person typed after `--`. */
  interactive(args: readonly string[]): readonly [string, ...string[]];
  /** The command without a terminal, or undefined when the agent needs one. */
  headless(args: readonly string[]): readonly [string, ...string[]] | undefined;
  /** Added to the environment of its sessions. */
  readonly env: Readonly<Record<string, string>>;
}
