/**
 * Runs a package manager to its end, with the person's own environment: that is where registries, proxies and
 * credentials are configured. It has its own process group, and nothing of it is left when this returns.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { AgentBoxError, systemCode } from "../../base/errors.ts";

export interface InstallerRun {
  readonly argv: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** The hint when the program is not on this host. */
  readonly missingHint: string;
}

export interface InstallerResult {
  readonly code: number | null;
  /** The end of what it wrote, both streams. */
  readonly output: string;
}

/** Long for a slow line, but an end. */
const timeLimitMs = 20 * 60_000;
const keptCharacters = 16_384;

export async function runInstaller(run: InstallerRun): Promise<InstallerResult> {
  // SECURITY: no shell; every argument is ours or was checked by the caller.
  const child = spawn(run.argv[0], run.argv.slice(1), {
    cwd: run.cwd,
    env: run.env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stop = AbortSignal.any([run.signal, AbortSignal.timeout(timeLimitMs)]);
  const end = (): void => endGroup(child.pid);
  stop.addEventListener("abort", end, { once: true });
  if (stop.aborted) end();
  let output = "";
  const keep = (text: string): void => {
    output = (output + text).slice(-keptCharacters);
  };
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    if (run.signal.aborted) throw interrupted();
    if (stop.aborted) throw new AgentBoxError("tool.install_failed", `${run.argv[0]} took too long.`);
    return { code, output };
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    throw new AgentBoxError("tool.install_failed", `${run.argv[0]} is not installed on this host.`, {
      hint: run.missingHint,
    });
  } finally {
    stop.removeEventListener("abort", end);
    end();
  }
}

/** Also what it started and left behind. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended.
  }
}

export const interrupted = (): AgentBoxError =>
  new AgentBoxError("tool.install_failed", "The installation was interrupted.", {
    hint: "Nothing of it is left; start it again when you like.",
  });
