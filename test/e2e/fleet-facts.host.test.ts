/** The list's facts about a real box besides its record: its branch and its changes, and its usage of the host. */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { withDaemon } from "../support/daemon.ts";
import { makeProject, working } from "../support/review.ts";

it("the list knows branch, changed files and use of a running box, and none of it is asked of the box", () =>
  withDaemon(async (daemon) => {
    const project = await makeProject(daemon);
    await working(daemon, project, "shop-api");
    await daemon.client.startSession("shop-api", {
      session: "loop",
      spec: { argv: ["sh", "-c", "while :; do :; done"], terminal: false, cols: 80, rows: 24 },
    });
    const summary = async () => (await daemon.client.listBoxes())[0]!;
    await waitFor(
      "the branch is known",
      async () => (await summary()).branch === "agentbox/shop-api",
      20_000,
    );
    expect((await summary()).repo).toBe(project.dir.split("/").at(-1));
    const inBox = (script: string) => daemon.cli(["exec", "shop-api", "--", "sh", "-c", script]);
    expect((await inBox("git checkout -q -b topic && echo new > new.txt")).code).toBe(0);
    await waitFor("the new branch is known", async () => (await summary()).branch === "topic", 20_000);
    await daemon.client.checkpointAndReview("shop-api");
    expect((await summary()).changedFiles).toBe(1);
    await waitFor(
      "the loop is seen in what the box uses",
      async () => ((await summary()).cpu?.at(-1) ?? 0) > 0,
      30_000,
    );
    const { samples } = await daemon.client.getResources("shop-api");
    expect(samples.at(-1)).toMatchObject({ processes: expect.any(Number), memoryBytes: expect.any(Number) });
    expect(samples.at(-1)!.memoryBytes).toBeGreaterThan(1_000_000);
    await daemon.client.stopBox("shop-api");
    expect((await daemon.client.getResources("shop-api")).samples).toEqual([]);
  }));
