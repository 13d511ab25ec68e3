import { AgentBoxError } from "../../base/errors.ts";
import { plainText } from "../terminal/plain-lines.ts";
import type { Screen } from "./screen.ts";

/** Asks on stderr, so that stdout stays data. No answer (end of input) is undefined. */
async function ask(screen: Screen, question: string): Promise<string | undefined> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: screen.streams.stdin, output: screen.streams.stderr });
  const ended = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  lines.once("SIGINT", () => lines.close());
  try {
    return (await Promise.race([lines.question(plainText(question)), ended]))?.trim();
  } finally {
    lines.close();
  }
}

/** No unless the person says yes. */
export const askYesNo = async (screen: Screen, question: string): Promise<boolean> =>
  /^y(es)?$/i.test((await ask(screen, `${question} [y/N] `)) ?? "");

export async function askText(screen: Screen, question: string, fallback: string): Promise<string> {
  const answer = await ask(screen, `${question} ${screen.errorStyle.dim(`[${fallback || "none"}]`)} `);
  if (answer === undefined)
    throw new AgentBoxError("input.invalid", "The question was not answered.", {
      hint: "Use flags and --yes.",
    });
  return answer === "" ? fallback : answer;
}
