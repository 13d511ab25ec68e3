import { readdirSync, readFileSync } from "node:fs";

/** Every process id in the box, including boxd's. */
export const processIds = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/**
 * Signals the group that `leader` started. A shell with job control makes more groups in the same session, so what
 * is meant to end a program goes to all of the session.
 */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  // Right after the fork the group is not there yet, and the process itself is all there is.
  if (!send(-leader, signal)) send(leader, signal);
  if (signal !== "SIGHUP" && signal !== "SIGTERM" && signal !== "SIGKILL") return;
  for (const pid of processIds()) {
    const stat = readStat(pid);
    if (stat?.session === leader && stat.group !== leader) send(pid, signal);
  }
}

function readStat(pid: number): { group: number; session: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name may contain spaces and parentheses; the fields after the last one are safe to split.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { group: Number(fields[2]), session: Number(fields[3]) };
  } catch {
    return undefined;
  }
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

const signals = new Set(["HUP", "INT", "QUIT", "TERM", "KILL", "USR1", "USR2", "CONT", "STOP", "WINCH"]);

/** "TERM" or "SIGTERM" → "SIGTERM"; undefined for what boxd does not send. */
export function signalName(name: string): NodeJS.Signals | undefined {
  const short = name.replace(/^SIG/, "");
  return signals.has(short) ? (`SIG${short}` as NodeJS.Signals) : undefined;
}
