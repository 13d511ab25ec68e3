import type { CommandContext } from "../command.ts";

/** Says what was done to people, and gives the facts to programs. */
export function say({ screen }: Pick<CommandContext, "screen">, facts: unknown, sentence: string): number {
  if (screen.isJson) screen.printJson(facts);
  else screen.print(sentence);
  return 0;
}
