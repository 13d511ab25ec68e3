/**
 * Found by attack: a box made up names of sessions in its health messages, and the host kept a log for each: hundreds
 * of megabytes in seconds, beside a disk of 64. The room for ends of turns and events is tested in
 * `src/core/resources/kept-bytes.test.ts`.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { keptBytes } from "../../src/core/resources/kept-bytes.ts";
import { emptyBox, eventsOf, onEachDaemon } from "./attack.ts";
import { floodArgv } from "./flooding-box.ts";

const diskBytes = 64 << 20;

/** The files that the host has written for a box: all but its home, its workspace and the image they lie in. */
function bytesBeside(root: string): number {
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "disk.img")
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(root, "data")));
  return paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

onEachDaemon("what a box has written beside its disk", (ground) => {
  it("is bounded, and nothing is written for sessions that only the box knows", async () => {
    const { daemon } = ground;
    const { runtimes } = await daemon.client.getDoctor();
    const isLimited = runtimes.some(({ limits }) =>
      limits.some(({ name, isEnforced }) => name.startsWith("disk") && isEnforced),
    );
    const resources = isLimited ? { disk: "64MiB" } : {};
    await emptyBox(daemon, "writer", { resources });
    const root = join(daemon.home, "boxes", "writer");
    const logOf = async (source: string) => (await daemon.cli(["logs", "writer", "--source", source])).stdout;
    const start = (session: string, argv: string[]) =>
      daemon.client.startSession("writer", { session, spec: { argv, terminal: false, cols: 80, rows: 24 } });

    // The control: what a session of the host's prints is kept.
    await start("ended", ["echo", "printed"]);
    await waitFor("it is recorded", async () => (await logOf("ended")).includes("printed"));

    await start("flood", floodArgv("sessions"));
    // So is what the box says that it printed later, and by that we know that the host listens to the box.
    await waitFor("the box speaks for itself", async () => (await logOf("ended")).includes("xxxx"), 60_000);
    const isOnRecord = async () =>
      (await eventsOf(daemon, "link.violated", "writer")).some(({ data }) =>
        String(data["reason"]).includes("read slowly"),
      );
    await waitFor("it has said more than it has a reason to", isOnRecord, 60_000);

    for (const n of [0, 1, 49]) expect(await logOf(`invented-${n}`)).toBe("");
    const logs = readdirSync(join(root, "logs")).filter((name) => name.includes(".log"));
    expect(logs.length).toBeLessThanOrEqual(6);
    expect(bytesBeside(root)).toBeLessThan(keptBytes(diskBytes).logs + (4 << 20));
  }, 150_000);
});
