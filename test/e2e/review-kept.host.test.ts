/**
 * A `GET` of a review shows the kept one: it takes no checkpoint and boots no box. A `POST` with a name that says so
 * does.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { makeProject, worked } from "../support/review.ts";
import { ask, claimLink } from "../support/web-client.ts";

const box = "kept-shop";

describe("a review", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
    await worked(daemon, await makeProject(daemon), box, "echo work > work.txt");
    // After the checkpoint that was taken when it stopped.
    writeFileSync(join(daemon.home, "boxes", box, "data/workspace/later.txt"), "later\n");
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const typesSince = async (after: number): Promise<readonly string[]> =>
    (await daemon.client.listEvents({ box, after, limit: 100 })).events.map(({ type }) => type);
  const lastId = async () => (await daemon.client.listEvents({ limit: 1, order: "newest" })).lastId;
  const patchOf = async (): Promise<string> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of await daemon.client.getPatch(box)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const reviewAs = async (may: "look" | "work") => {
    const { url } = await daemon.client.createShare(box, { may, with: { link: true } });
    const { port, headers, origin } = await claimLink(url ?? "");
    const path = `/v1/boxes/${box}`;
    const json = { "content-type": "application/json" };
    return {
      kept: () => ask({ port, path: `${path}/review`, headers }),
      now: () =>
        ask({
          port,
          method: "POST",
          path: `${path}/checkpoint-and-review`,
          headers: { ...headers, ...json, origin },
          body: "{}",
        }),
    };
  };

  it("that is got asks nothing of a stopped box, and one that is posted takes its state", async () => {
    const looker = await reviewAs("look");
    const before = await lastId();
    const checkpoints = await daemon.client.listCheckpoints(box);
    expect((await daemon.client.getReview(box)).changes.map(({ path }) => path)).toEqual(["work.txt"]);
    expect(await patchOf()).not.toContain("later.txt");
    expect(await looker.kept()).toMatchObject({ status: 200 });
    // Who may only look cannot start the box by looking.
    expect(await looker.now()).toMatchObject({ status: 403, code: "access.forbidden" });
    const quiet = await typesSince(before);
    expect(quiet.filter((type) => /^(boot|box|link|checkpoint)\./.test(type))).toEqual([]);
    expect(await daemon.client.listCheckpoints(box)).toEqual(checkpoints);

    const taken = await daemon.client.checkpointAndReview(box);
    expect(taken.changes.map(({ path }) => path)).toEqual(["later.txt", "work.txt"]);
    expect(await typesSince(before)).toContain("checkpoint.taken");
    expect((await daemon.client.getBox(box)).box.state.phase).toBe("stopped");

    // From now on the kept one is returned.
    const after = await lastId();
    expect(await daemon.client.getReview(box)).toEqual(taken);
    expect(await patchOf()).toContain("later.txt");
    expect(JSON.parse((await looker.kept()).text)).toMatchObject({ digest: taken.digest });
    expect((await typesSince(after)).filter((type) => /^(boot|link|checkpoint)\./.test(type))).toEqual([]);
  });

  it("shows the files of a stopped box as they were kept, and starts nothing", async () => {
    const before = await lastId();
    const { entries, keptAt } = await daemon.client.listFiles(box);
    const newest = (await daemon.client.listCheckpoints(box)).at(-1)!;
    expect(entries.find(({ name }) => name === "work.txt")).toMatchObject({ kind: "file", size: 5 });
    expect(keptAt).toEqual({ checkpoint: newest.number, atMs: newest.atMs });
    const listed = await daemon.cli(["files", box]);
    expect(listed.stdout).toContain("work.txt");
    expect(listed.stderr).toContain(`From checkpoint ${newest.number} of `);
    expect((await daemon.cli(["files", box, "work.txt"])).stdout).toBe("work\n");
    for (const path of ["nothing.txt", "work.txt/below", ".git", ".git/config"])
      expect((await daemon.cli(["files", box, path])).stderr, path).toContain("file.not_found");
    expect((await daemon.cli(["files", box, "../link/box.json"])).stderr).toContain("file.unsafe_path");
    await expect(daemon.client.writeFile(box, { path: "new.txt", content: "YQ==" })).rejects.toMatchObject({
      code: "box.wrong_phase",
    });
    const types = await typesSince(before);
    expect(types.filter((type) => /^(boot|box|link|checkpoint)\./.test(type))).toEqual([]);
    expect(types).toEqual(expect.arrayContaining(["files.copied", "files.refused"]));
  });

  it("is posted by who may work", async () => {
    const worker = await reviewAs("work");
    expect(await worker.now()).toMatchObject({ status: 200 });
  });
});
