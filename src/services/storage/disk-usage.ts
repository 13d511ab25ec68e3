/**
 * How much of the disk a directory takes. SECURITY: du follows no links and stays on one file system, and a box that
 * has made more files than can be counted costs no more than the time-out.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import { pathKind } from "../../host/files.ts";
import { run } from "../../host/run.ts";

/**
 * The sum of all of them. Directories that a box has closed are not counted for a person's daemon; du then fails, but
 * still prints the sum of the rest.
 */
export async function diskUsage(directories: readonly string[]): Promise<number> {
  const { sums, stderr } = await du(directories, 30_000);
  if (sums.size === directories.length) return [...sums.values()].reduce((sum, bytes) => sum + bytes, 0);
  const why = printable(stderr.trim().split("\n").at(-1) ?? "");
  throw new AgentBoxError("file.failed", `The space used by a box could not be measured: ${why}`);
}

/** Each by itself: nothing there is 0, not counted in time is undefined. */
export async function measureEach(
  paths: readonly string[],
  timeoutMs: number,
): Promise<ReadonlyMap<string, number | undefined>> {
  const kinds = await Promise.all(paths.map((path) => pathKind(path)));
  const here = paths.filter((_, at) => kinds[at] !== undefined);
  const { sums } = await du(here, timeoutMs);
  return new Map(paths.map((path) => [path, here.includes(path) ? sums.get(path) : 0]));
}

interface Counted {
  readonly sums: ReadonlyMap<string, number>;
  readonly stderr: string;
}

async function du(paths: readonly string[], timeoutMs: number): Promise<Counted> {
  if (paths.length === 0) return { sums: new Map(), stderr: "" };
  const { stdout, stderr } = await run(["du", "-sx", "--null", "--block-size=1", "--", ...paths], {
    timeoutMs,
  });
  const sums = new Map<string, number>();
  for (const line of stdout.split("\0").slice(0, -1)) {
    const tab = line.indexOf("\t");
    sums.set(line.slice(tab + 1), Number(line.slice(0, tab)));
  }
  return { sums, stderr };
}
