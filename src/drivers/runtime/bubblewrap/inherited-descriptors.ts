/** Descriptors this process would pass on to every child, because whoever started it left them open. */
import { readdirSync, readFileSync } from "node:fs";

const closeOnExec = 0o2000000;

/** Node opens everything with close-on-exec, so what lacks it above stderr came from outside. */
export function inheritedDescriptors(): readonly number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => {
      if (fd <= 2) return false;
      try {
        const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
        return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
      } catch {
        return false;
      }
    });
}
