import type { TestDaemon } from "../../test/support/daemon.ts";
import { type ProgramOptions, type ProgramResult, runProgram } from "../../test/support/program.ts";

/** Runs a program that must succeed: the time of a failure is no measurement. */
export async function mustRun(argv: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  const result = await runProgram(argv, options);
  if (result.code === 0) return result;
  throw new Error(
    `${argv.join(" ")} ended with ${result.code ?? result.signal}: ${result.stderr || result.stdout}`,
  );
}

/** `agentbox …` as a person runs it: a new process that asks the warm daemon. */
export const agentbox = (daemon: TestDaemon, args: readonly string[]): Promise<ProgramResult> => {
  const { argv, env } = daemon.command(args);
  return mustRun(argv, { env, cwd: daemon.scratch });
};
