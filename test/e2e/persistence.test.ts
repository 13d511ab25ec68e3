import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { DiskAnswer } from "../../src/contract/api/schemas/storage.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { testRuntime } from "../support/test-runtime.ts";

/** Where package managers keep what they have fetched. */
const caches = [".npm/_cacache", ".cache/pip", ".cargo/registry", "go/pkg/mod"];

describe("what persists", () => {
  let daemon: TestDaemon;
  let project: string;
  beforeAll(async () => {
    daemon = await startDaemon();
    project = join(daemon.scratch, "project");
    mkdirSync(project, { mode: 0o755 });
    writeFileSync(join(project, "hello.txt"), "hello\n", { mode: 0o644 });
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const inBox = async (box: string, script: string): Promise<string> => {
    const { code, stdout, stderr } = await daemon.cli(["exec", box, "--", "bash", "-c", script]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  };
  const make = (name: string) =>
    daemon.client.createBox({ name, projectDir: project, flags: { workspace: { mode: "copy" } } });

  it("is home with history and caches and the workspace; the rest is gone with each start", async () => {
    await make("lasting-box");
    const kept = [
      "/home/agent/.bash_history",
      "/workspace/work.txt",
      ...caches.map((dir) => `/home/agent/${dir}/kept`),
    ];
    const lost = ["/tmp/lost", "/var/tmp/lost", "/dev/shm/lost", "/run/secrets/lost"];
    await inBox(
      "lasting-box",
      [...kept, ...lost].map((file) => `mkdir -p "$(dirname ${file})"; echo it > ${file};`).join(" "),
    );
    const see = (files: readonly string[]) =>
      inBox("lasting-box", files.map((file) => `test -e ${file} && echo ${file};`).join(" ") + " true");
    // The control: all of it is there while the box runs, also for a daemon that comes back.
    await daemon.kill();
    await daemon.start();
    await waitFor("the box is adopted", async () => (await daemon.client.getBox("lasting-box")).isConnected);
    expect((await see([...kept, ...lost])).trim().split("\n")).toEqual([...kept, ...lost]);

    await daemon.client.stopBox("lasting-box", { graceMs: 1_000 });
    await daemon.stop();
    await daemon.start();
    await daemon.client.startBox("lasting-box");
    expect((await see([...kept, ...lost])).trim().split("\n")).toEqual(kept);
    await daemon.client.restartBox("lasting-box");
    expect((await see([...kept, ...lost])).trim().split("\n")).toEqual(kept);
    await daemon.client.removeBox("lasting-box", { force: true });
  });

  it("is each box's own, also for several boxes on one project at once", async () => {
    const names = ["first-box", "second-box"];
    await Promise.all(names.map(make));
    // A lock that is held in one box is free in the other.
    const hold = (name: string) =>
      inBox(
        name,
        `cd; mkdir -p .npm; exec 9> .npm/lock; flock -n 9 && echo ${name} > .npm/owner && sleep 0.5; cat .npm/owner`,
      );
    expect(await Promise.all(names.map(hold))).toEqual(names.map((name) => `${name}\n`));
    const inodes = await Promise.all(
      names.map((name) => inBox(name, "find /home/agent/.npm/owner -printf %D:%i")),
    );
    expect(new Set(inodes).size).toBe(2);

    const disk = await daemon.json<DiskAnswer>(["df"]);
    expect(disk.boxes.map(({ name }) => name).sort()).toEqual(names);
    for (const { bytes, totalBytes, canPrune } of disk.boxes) {
      expect(bytes.home).toBeGreaterThan(0);
      expect(bytes.workspace).toBeGreaterThan(0);
      expect(totalBytes).toBeGreaterThanOrEqual(bytes.home! + bytes.workspace!);
      expect(canPrune).toBe(false);
    }
    expect(disk.prunableBytes).toBe(0);
    expect(disk.shared.find(({ name }) => name === "tools")?.bytes).toBeGreaterThan(100_000);
    expect(disk.shared.find(({ name }) => name === "records")?.bytes).toBeGreaterThan(0);

    await inBox("first-box", "head -c 5000000 /dev/zero > /home/agent/big; ln -s / /home/agent/root");
    await daemon.client.stopBox("first-box", { graceMs: 1_000 });
    const later = await daemon.json<DiskAnswer>(["df"]);
    const first = later.boxes[0]!;
    expect(first).toMatchObject({ name: "first-box", phase: "stopped", canPrune: true });
    expect(first.bytes.home).toBeGreaterThan(5_000_000);
    // SECURITY: the link to everything was not followed.
    expect(first.bytes.home).toBeLessThan(6_000_000);
    expect(later.prunableBytes).toBe(first.totalBytes);
    const table = await daemon.cli(["df"]);
    expect(table.stdout).toMatch(/^BOX +PHASE +HOME/m);
    expect(table.stdout).toContain("agentbox prune would free");
    for (const name of names) await daemon.client.removeBox(name, { force: true });
  });

  it("is not touched when a box cannot be moved", async () => {
    await make("moving-box");
    const runtime = testRuntime?.name ?? "bubblewrap";
    const moved = (...args: string[]) => daemon.cli(["move", "moving-box", "--json", ...args]);
    expect((await moved("--runtime", "memory")).stderr).toContain("--yes");
    expect((await moved("--runtime", "bublewrap", "--yes")).stderr).toContain("runtime.unknown");
    expect((await moved("--runtime", runtime, "--yes")).code).toBe(2);
    expect((await moved()).code).toBe(2);
    expect((await daemon.client.getBox("moving-box")).box.state.phase).toBe("running");

    // The control, to the runtime that runs nothing and back: files and identity are the same.
    await inBox("moving-box", "echo mine > /home/agent/mine; echo work > /workspace/work");
    const { box: before } = await daemon.client.getBox("moving-box");
    await daemon.client.stopBox("moving-box", { graceMs: 1_000 });
    expect((await moved("--runtime", "memory")).code).toBe(0);
    expect((await daemon.client.getBox("moving-box")).box.spec.runtime).toBe("memory");
    expect((await moved("--runtime", runtime)).code).toBe(0);
    await daemon.client.startBox("moving-box");
    expect(await inBox("moving-box", "cat /home/agent/mine /workspace/work")).toBe("mine\nwork\n");
    const { box: after } = await daemon.client.getBox("moving-box");
    expect(after).toMatchObject({
      incarnation: before.incarnation,
      owner: before.owner,
      spec: before.spec,
      isolation: before.isolation,
    });
    await daemon.client.removeBox("moving-box", { force: true });
  });
});
