/** A file of 2 GB, which is as large as one may be: through a clone, a review and a merge, and never through memory. */
import { closeSync, ftruncateSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Review } from "../../src/contract/review/review.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { accepting, makeProject, type Project, working } from "../support/review.ts";

const hugeBytes = 2 ** 31;
/** For each command. All of them together take about a minute on two cores, which git spends on checksums. */
const limitMs = 240_000;
const maxDaemonBytes = 300 * 2 ** 20;

/** The most it has ever had. */
const peakBytes = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

function byteAt(file: string, at: number): number {
  const bytes = Buffer.alloc(1);
  const descriptor = openSync(file, "r");
  readSync(descriptor, bytes, 0, 1, at);
  closeSync(descriptor);
  return bytes[0]!;
}

describe("a committed file of 2 GB", () => {
  let daemon: TestDaemon;
  let project: Project;
  beforeAll(async () => {
    daemon = await startDaemon();
    project = await makeProject(daemon);
    const descriptor = openSync(join(project.dir, "huge.bin"), "w");
    ftruncateSync(descriptor, hugeBytes);
    closeSync(descriptor);
    await project.git("-c", "core.compression=1", "add", "huge.bin");
    await project.git("commit", "-qm", "Huge");
  }, 600_000);
  afterAll(() => daemon[Symbol.asyncDispose]());

  it("is cloned, changed, shown without its content, and merged", async () => {
    await working(
      daemon,
      project,
      "huge",
      "printf x | dd of=huge.bin bs=1 seek=1000 conv=notrunc status=none",
    );
    const looked = await daemon.cli(["diff", "huge", "--json"], { timeoutMs: limitMs });
    expect(looked.code, looked.stderr).toBe(0);
    const { changes, dangers } = JSON.parse(looked.stdout) as Review;
    expect(changes).toMatchObject([{ path: "huge.bin", kind: "modified", isBinary: true }]);
    // The second says that it was not searched for secrets.
    expect(dangers.map(({ kind }) => kind)).toEqual(["unfamiliar", "secret", "large_binary"]);
    const shown = await daemon.cli(["diff", "huge", "--to", "latest"], { timeoutMs: limitMs });
    expect(shown.stdout).toContain("Binary files a/huge.bin and b/huge.bin differ");
    expect(shown.stdout.length).toBeLessThan(10_000);
    expect(byteAt(join(project.dir, "huge.bin"), 1000)).toBe(0);
    const landing = ["merge", "huge", "--unseen", ...accepting(["unfamiliar", "secret", "large_binary"])];
    const merged = await daemon.cli(landing, { timeoutMs: limitMs });
    expect(merged.code, merged.stderr).toBe(0);
    expect(byteAt(join(project.dir, "huge.bin"), 1000)).toBe("x".charCodeAt(0));
    expect(statSync(join(project.dir, "huge.bin")).size).toBe(hugeBytes);
    expect(peakBytes(daemon.pid)).toBeLessThan(maxDaemonBytes);
  }, 600_000);
});
