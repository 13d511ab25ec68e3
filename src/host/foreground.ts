import { spawn } from "node:child_process";
import { once } from "node:events";
import { inheritedEnv } from "./env.ts";

/** Runs a person's own program on their terminal, with what is given as its input. Resolves to its exit code. */
export async function runForeground(
  argv: readonly [string, ...string[]],
  input: AsyncIterable<Uint8Array>,
): Promise<number> {
  const [file, ...args] = argv;
  const child = spawn(file, args, { stdio: ["pipe", "inherit", "inherit"], env: inheritedEnv() });
  const ended = once(child, "close") as Promise<[number | null]>;
  // A pager that is left before its end has read enough.
  child.stdin.on("error", () => undefined);
  for await (const chunk of input) {
    if (child.exitCode !== null || child.stdin.destroyed) break;
    if (!child.stdin.write(chunk)) await Promise.race([once(child.stdin, "drain"), ended]);
  }
  child.stdin.end();
  const [code] = await ended;
  return code ?? 1;
}
