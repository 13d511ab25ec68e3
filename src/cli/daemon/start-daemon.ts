import { type ChildProcess, spawn } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { errorCodes } from "../../base/error-codes.ts";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { findDaemonPid } from "../../host/daemon-lock.ts";
import { type HostEnv, inheritedEnv } from "../../host/env.ts";
import { openHome } from "../../host/home.ts";

const readyWithinMs = 15_000;
const pollMs = 10;

interface StartOptions {
  readonly env: HostEnv;
  readonly program: string;
}

/**
 * Starts the daemon and waits until it answers. Two commands may do this at the same moment: the daemon's own
 * lock lets one of the two live, and both commands find that one.
 */
export async function startDaemon({ env, program }: StartOptions): Promise<void> {
  const home = await openHome(env.agentboxHome, env);
  const logFile = join(home.logs, "daemon.log");
  // SECURITY: owner-only, because a log can quote names and paths of the person's projects.
  const log = await open(logFile, "a", 0o600);
  const { size: before } = await log.stat();
  const child = spawn(process.execPath, [program, "daemon", "run"], {
    cwd: "/",
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
    env: { ...inheritedEnv(), AGENTBOX_HOME: env.agentboxHome },
  });
  child.unref();
  await log.close();
  const outcome = await waitUntilReady(child, home.socket);
  if (outcome === "ready") {
    // One that was slower than the winner must not come to life when the winner is stopped.
    if ((await findDaemonPid(home)) !== child.pid) child.kill();
    return;
  }
  const logText = (await readFile(logFile)).subarray(before).toString();
  throw startFailed(outcome, logText);
}

type Outcome = "ready" | "timed_out" | { readonly exitCode: number | null };

async function waitUntilReady(child: ChildProcess, socket: string): Promise<Outcome> {
  const deadline = performance.now() + readyWithinMs;
  let ended: Outcome | undefined;
  child.once("error", () => (ended = { exitCode: null }));
  child.once("exit", (exitCode) => (ended = { exitCode }));
  while (performance.now() < deadline) {
    if (await canConnect(socket)) return "ready";
    // The loser of a race has gone, and the winner may need a moment more.
    if (ended !== undefined && ended !== "ready" && !isLostRace(ended)) return ended;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return ended ?? "timed_out";
}

const isLostRace = (outcome: Outcome): boolean =>
  typeof outcome === "object" && outcome.exitCode === errorCodes["daemon.already_running"].exit;

function canConnect(socket: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const attempt = connect(socket);
    attempt.once("connect", () => {
      attempt.destroy();
      resolve(true);
    });
    attempt.once("error", (error) => {
      if (["ENOENT", "ECONNREFUSED", "EAGAIN"].includes(systemCode(error) ?? "")) resolve(false);
      else
        reject(
          new AgentBoxError(
            "daemon.unreachable",
            `The daemon at ${socket} does not answer: ${messageOf(error)}.`,
            { cause: error },
          ),
        );
    });
  });
}

/** The log is JSON lines and whatever Node said; the last messages are what a person needs. */
function startFailed(outcome: Exclude<Outcome, "ready">, logText: string): AgentBoxError {
  const how =
    outcome === "timed_out"
      ? `did not answer within ${readyWithinMs / 1_000} s`
      : `ended at once with ${outcome.exitCode ?? "a signal"}`;
  const lines = logText
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-5)
    .map(messageOfLogLine);
  return new AgentBoxError(
    "daemon.start_failed",
    `The daemon ${how}${lines.length > 0 ? `: ${lines.join(" | ")}` : "."}`,
    {
      hint: "Look at: agentbox daemon logs",
      facts: { lines },
    },
  );
}

function messageOfLogLine(line: string): string {
  try {
    const { msg } = JSON.parse(line) as { msg?: unknown };
    if (typeof msg === "string") return printable(msg);
  } catch {
    // Not JSON: Node itself has spoken.
  }
  return printable(line);
}
