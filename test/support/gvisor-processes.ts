/**
 * The processes of a gVisor box on the host: one that opens files for it and has its mounts, and the sandbox, which has
 * none of them but all of the box's memory, in one file that no program sees. The bundle in their command lines joins
 * the two.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A file that is gone or unreadable holds nothing for others either. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const argvOf = (pid: number): readonly string[] =>
  (attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "").split("\0");

function bundleOf(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((argument) => argument === "--bundle" || argument.startsWith("--bundle="));
  return at < 0 ? undefined : (argv[at]!.split("=")[1] ?? argv[at + 1]);
}

/** The sandboxes to which these processes belong; empty where none of them is gVisor's. */
export function sandboxesOf(pids: readonly number[]): readonly number[] {
  const bundles = new Set(
    pids
      .map(argvOf)
      .filter(([program]) => program === "runsc-gofer")
      .map(bundleOf),
  );
  if (bundles.size === 0) return [];
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      const argv = argvOf(pid);
      return argv[0] === "runsc-sandbox" && bundles.has(bundleOf(argv));
    });
}

/** gVisor's name for the file with a sandbox's memory. */
export const sandboxMemory = "/memfd:runsc-memory";

/** The file with the memory of all programs of a sandbox, and with its files that lie in memory; undefined for others. */
export function memoryFileOf(pid: number): string | undefined {
  const directory = `/proc/${pid}/fd`;
  const names = attempt(() => readdirSync(directory)) ?? [];
  const isMemory = (name: string) =>
    attempt(() => readlinkSync(`${directory}/${name}`))?.startsWith(sandboxMemory);
  const name = names.find(isMemory);
  return name === undefined ? undefined : `${directory}/${name}`;
}
