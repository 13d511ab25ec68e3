/**
 * Keys for model providers, by the name of the host's variable. Held in memory and nowhere else: a box's record says
 * which variable holds its key, never the key.
 */
import type { ModelSpec } from "../../contract/model/api.ts";

export class ModelKeys {
  readonly #fromCommands = new Map<string, string>();
  readonly #hostVariable: (name: string) => string | undefined;

  constructor(hostVariable: (name: string) => string | undefined) {
    this.#hostVariable = hostVariable;
  }

  /**
   * Takes the variables of the shell in which the command was run, which may differ from the daemon's own environment.
   * SECURITY: only variables that the box's providers name; the caller has checked that a person agreed to these.
   */
  remember(model: ModelSpec | undefined, variables: Readonly<Record<string, string>>): void {
    for (const { keyVariable } of model?.providers ?? []) {
      if (keyVariable === undefined || !Object.hasOwn(variables, keyVariable)) continue;
      const value = variables[keyVariable]!.trim();
      if (value !== "") this.#fromCommands.set(keyVariable, value);
    }
  }

  get(variable: string): string | undefined {
    return this.#fromCommands.get(variable) ?? this.#hostVariable(variable);
  }
}
