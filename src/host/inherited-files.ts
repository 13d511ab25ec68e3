/** Closes what a process was handed besides stdin, stdout and stderr. */
import { closeSync, readFileSync, readdirSync } from "node:fs";

const closeOnExec = 0o2000000;

/**
 * SECURITY: a file that is open in the shell that starts the daemon would be open in every box. Node marks only
 * the first few descriptors as not to be passed on; the others are found by the missing mark and closed.
 */
export function closeInheritedFiles(): readonly number[] {
  const inherited = readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 2 && isPassedOn(fd));
  for (const fd of inherited) closeSync(fd);
  return inherited;
}

function isPassedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The descriptor of the listing itself is gone by now.
    return false;
  }
}
