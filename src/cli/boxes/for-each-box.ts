import type { CommandContext } from "../command.ts";
import { exitCodeOf, showError } from "../render/error.ts";

/**
 * Does the same to each named box. One failure does not keep the others from being done, and is the exit code.
 */
export async function forEachBox(
  { args, screen }: Pick<CommandContext, "args" | "screen">,
  act: (name: string) => Promise<{ readonly data: unknown; readonly text: string }>,
): Promise<number> {
  let exitCode = 0;
  const done: unknown[] = [];
  for (const name of new Set(args.positionals)) {
    try {
      const { data, text } = await act(name);
      done.push(data);
      if (!screen.isJson) screen.print(text);
    } catch (error) {
      showError(screen, error);
      exitCode = exitCodeOf(error, false);
    }
  }
  if (screen.isJson) screen.printJson({ boxes: done });
  return exitCode;
}
