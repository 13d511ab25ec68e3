// The private clone of a repository of 1 GB in 50,000 files against `git clone --local`, which links the objects of the
// source instead of copying them: both with all files checked out, in turns, median of 3, on the same file system.
// Every round has a target of its own and nothing is deleted before the end: ext4 makes no inode again for a while after
// 50,000 were deleted, and looking past them takes ten times as long as the clone.
// Ours also compares the source with its HEAD and, as root, gives every file to the box's user.
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspaces } from "../src/services/workspace/index.ts";
import { isRoot } from "../test/support/host-facts.ts";
import { mustRun } from "./support/agentbox.ts";
import { type Bench, alternateValues, compare, timeMs } from "./support/bench.ts";
import { makeLargeRepository, oneGigabyte } from "./support/large-repository.ts";

const name = "workspace-clone";
const neededBytes = 16e9;
const rounds = 3;

async function measure(directory: string): Promise<{ ours: number; peer: number }> {
  const source = join(directory, "source");
  await makeLargeRepository(source, oneGigabyte);
  const workspaces = openWorkspaces({
    isRoot,
    userHome: join(directory, "home"),
    agentboxHome: join(directory, "agentbox"),
  });
  const owner = isRoot ? { uid: 54_321, gid: 54_321 } : { uid: process.getuid!(), gid: process.getgid!() };
  const spec = { mode: "clone", source, carry: "none" } as const;
  let targets = 0;
  const timed = async (work: (target: string) => Promise<unknown>): Promise<number> => {
    const target = join(directory, `target-${++targets}`);
    mkdirSync(target);
    // The other side's files are on the disk before this one begins.
    await mustRun(["sync", "-f", directory], { timeoutMs: 120_000 });
    return await timeMs(() => work(target));
  };
  return await alternateValues(
    rounds,
    () => timed((target) => workspaces.prepare({ spec, target, owner, box: "bench" })),
    () =>
      timed((target) =>
        mustRun(["git", "clone", "--quiet", "--local", source, target], { timeoutMs: 300_000 }),
      ),
  );
}

const bench: Bench = {
  name,
  about: "a private clone of 1 GB in 50,000 files against git clone --local",
  needs: { git: "git" },
  async run() {
    const { bavail, bsize } = statfsSync(tmpdir());
    if (bavail * bsize < neededBytes) return [{ name, skipped: "16 GB of free disk needed" }];
    const directory = mkdtempSync(join(tmpdir(), "ab-bench-clone-"));
    try {
      const times = await measure(directory);
      return [compare({ name, unit: "ms", ...times, peerName: "git clone --local", goal: 1.5 })];
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};
export default bench;
