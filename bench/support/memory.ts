import { readFileSync, readdirSync } from "node:fs";

const readProc = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It ended while we looked.
    return "";
  }
};

const parentOf = (pid: number): number => Number(/^PPid:\s+(\d+)$/m.exec(readProc(pid, "status"))?.[1] ?? 0);

export const commandOf = (pid: number): string => readProc(pid, "cmdline").replaceAll("\0", " ");

/** This process and all below it. */
export function familyOf(first: number): readonly number[] {
  const all = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  const parents = new Map(all.map((entry) => [Number(entry), parentOf(Number(entry))]));
  const family = [first];
  // Grows while it is walked through: children are appended behind their parents.
  for (const member of family) for (const [pid, parent] of parents) if (parent === member) family.push(pid);
  return family;
}

/** The outermost process above this one that still belongs to it. */
export function climb(pid: number, belongs: (pid: number) => boolean): number {
  const parent = parentOf(pid);
  return parent > 1 && belongs(parent) ? climb(parent, belongs) : pid;
}

/**
 * Memory that is there for these processes alone: anonymous and shared memory, what several of them map in equal
 * parts. Pages of program files are left out, because every process of the machine that runs the same file has them.
 */
export function ownMib(pids: readonly number[]): number {
  const kib = pids.flatMap((pid) =>
    [...readProc(pid, "smaps_rollup").matchAll(/^Pss_(?:Anon|Shmem):\s+(\d+) kB$/gm)].map((match) =>
      Number(match[1]),
    ),
  );
  return kib.reduce((sum, value) => sum + value, 0) / 1024;
}
