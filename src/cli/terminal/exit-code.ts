import { constants } from "node:os";
import type { StreamAnswer } from "../../contract/api/schemas.ts";

/** How a command in a box ended, as a shell would say it. */
export function commandExitCode(
  exit: Pick<Extract<StreamAnswer, { type: "exit" }>, "code" | "signal" | "timedOut">,
): number {
  if (exit.timedOut) return 124;
  if (exit.code !== null) return exit.code;
  const name = exit.signal?.startsWith("SIG") ? exit.signal : `SIG${exit.signal ?? ""}`;
  const number = (constants.signals as Readonly<Record<string, number>>)[name];
  return number === undefined ? 125 : 128 + number;
}
