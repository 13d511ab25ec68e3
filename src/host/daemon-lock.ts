/**
 * Exactly one daemon per home. The kernel holds the lock on behalf of our open file: it is gone the moment the process
 * is, even after a crash, so there is no stale lock to judge and nothing to take over.
 */
import { constants } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import { AgentBoxError, messageOf } from "../base/errors.ts";
import { omitUndefined } from "../base/omit-undefined.ts";
import { lockFile } from "./file-lock.ts";
import type { Home } from "./home.ts";
import { readProcessStat } from "./processes.ts";

export type DaemonLock = AsyncDisposable;

export async function acquireDaemonLock(home: Pick<Home, "root" | "lock">): Promise<DaemonLock> {
  // The file is never removed: a lock on an unlinked file would exclude no one.
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = await open(home.lock, flags, 0o600);
  try {
    // A box cannot keep the lock of a dead daemon: what we start later does not inherit it.
    const isOurs = await lockFile(file).catch((error: unknown) => Promise.reject(cannotLock(error)));
    if (!isOurs) throw await alreadyRunning(home);
    await writeHolder(file);
  } catch (error) {
    await file.close();
    throw error;
  }
  return { [Symbol.asyncDispose]: () => file.close() };
}

/** The process that holds the lock, as far as it said so and still lives. */
export async function findDaemonPid(home: Pick<Home, "lock">): Promise<number | undefined> {
  try {
    const holder = JSON.parse(await readFile(home.lock, "utf8")) as { pid: number; startTicks: number };
    const stat = await readProcessStat(holder.pid);
    return stat?.startTicks === holder.startTicks && stat.state !== "Z" ? holder.pid : undefined;
  } catch {
    return undefined;
  }
}

async function writeHolder(file: FileHandle): Promise<void> {
  const stat = await readProcessStat(process.pid);
  const text = `${JSON.stringify({ pid: process.pid, startTicks: stat?.startTicks })}\n`;
  await file.truncate(0);
  await file.write(text, 0);
}

async function alreadyRunning(home: Pick<Home, "root" | "lock">): Promise<AgentBoxError> {
  const pid = await findDaemonPid(home);
  const who = pid === undefined ? "Another daemon" : `The daemon with process id ${pid}`;
  return new AgentBoxError("daemon.already_running", `${who} serves ${home.root} already.`, {
    hint: "Use it as it is, or run: agentbox daemon stop",
    facts: { home: home.root, ...omitUndefined({ pid }) },
  });
}

const cannotLock = (cause: unknown): AgentBoxError =>
  new AgentBoxError("daemon.start_failed", `The daemon's lock could not be taken: ${messageOf(cause)}.`, {
    hint: "The program flock is needed; on Debian and Ubuntu it is in the package util-linux.",
    cause,
  });
