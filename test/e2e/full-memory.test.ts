/** A directory in memory that is full: the line that names it, the key that makes it larger, the event and the use. */
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { BoxDetails } from "../../src/contract/api/schemas.ts";
import { emptyBox, eventsOf, type Ground, inBox, onEachDaemon, shellInBox } from "../security/attack.ts";

const mib = 2 ** 20;
const fill = "head -c 30000000 /dev/zero";

onEachDaemon("a full directory in memory", (ground: Ground) => {
  it("is named at the end of run, with a key that makes it larger", async () => {
    const run = (line: string, script: string) =>
      ground.daemon.cli(["run", "shell", "--workspace", "empty", "--set", line, "--", "sh", "-c", script]);
    for (const [path, key] of [
      ["/tmp", "resources.tmp"],
      ["/dev/shm", "resources.shm"],
    ] as const) {
      const full = await run(`${key} = "16MiB"`, `${fill} > ${path}/x`);
      expect(full.code).not.toBe(0);
      // The program's own words, and where.
      expect(full.stderr).toMatch(/no space left on device/i);
      const said = new RegExp(`note: ${path} is full \\(16 MiB, in memory\\): .*--set '(${key} = "32MiB")'`);
      const [, wayOut] = said.exec(full.stderr) ?? [];
      expect(wayOut, full.stderr).toBeDefined();
      // The control: with the line that it names, the same command ends well, and nothing is said.
      const { code, stderr } = await run(wayOut!, `${fill} > ${path}/x`);
      expect({ code, isNoted: stderr.includes("is full") }).toEqual({ code: 0, isNoted: false });
    }
  });

  it("is an event, and its use is shown", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "fills", { resources: { tmp: "16MiB", shm: "4MiB" } });
    expect((await inBox(daemon, box, ["true"])).stderr).toBe("");
    const { stderr } = await shellInBox(daemon, box, `${fill} > /tmp/x`);
    expect(stderr).toContain("note: /tmp is full");
    await waitFor("the event", async () => (await eventsOf(daemon, "memory.full", box)).length > 0, 30_000);
    const [event] = await eventsOf(daemon, "memory.full", box);
    expect(event?.data).toEqual({ path: "/tmp", sizeBytes: 16 * mib });
    const { health } = await daemon.json<BoxDetails>(["inspect", box]);
    const use = Object.fromEntries((health?.memory ?? []).map((one) => [one.path, one]));
    expect(use["/tmp"]).toEqual({ path: "/tmp", sizeBytes: 16 * mib, usedBytes: 16 * mib });
    expect(use["/dev/shm"]).toMatchObject({ sizeBytes: 4 * mib });
    expect((await daemon.cli(["inspect", box])).stdout).toMatch(/\/tmp +16 MiB of 16 MiB/);
    // Room again: nothing is said any more.
    expect((await shellInBox(daemon, box, "rm /tmp/x")).stderr).toBe("");
  });

  it("has a size that a manifest may not make nonsense of", async () => {
    const { code, stderr } = await ground.daemon.cli([
      "run",
      "shell",
      "--workspace",
      "empty",
      "--set",
      'resources.tmp = "1KiB"',
      "--",
      "true",
    ]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("resources.tmp");
  });
});
