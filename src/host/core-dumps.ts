/** Keeps what is in the memory of this process from being written to a disk when it crashes. */
import { AgentBoxError, messageOf } from "../base/errors.ts";
import { runOk } from "./run.ts";

/**
 * SECURITY: a crash dump holds every secret that was in memory. One byte and not none: below a page no file is written,
 * and one is the value at which the kernel does not start a program that collects dumps either (for none it does). Only
 * the soft limit, so that a program in a box may still ask for dumps of its own.
 */
export async function forbidCoreDumps(): Promise<void> {
  const limitTo = (bytes: number) => runOk(["prlimit", "--pid", String(process.pid), `--core=${bytes}:`]);
  try {
    // Where the hard limit is zero already, one would be more.
    await limitTo(1).catch(() => limitTo(0));
  } catch (error) {
    throw new AgentBoxError("daemon.start_failed", `Crash dumps cannot be forbidden: ${messageOf(error)}`, {
      hint: "The program prlimit is needed; on Debian and Ubuntu it is in the package util-linux.",
      cause: error,
    });
  }
}
