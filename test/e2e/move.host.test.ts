import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { startDaemon } from "../support/daemon.ts";
import { engineUnavailable, startEngine } from "../support/engines.ts";
import { itUnless } from "../support/skipping.ts";

itUnless(engineUnavailable("docker"))(
  "a box that moves to an engine and back keeps its files, its user and its identity, and what ran runs",
  async () => {
    const { socket } = await startEngine("docker");
    await using daemon = await startDaemon({ env: { AGENTBOX_ENGINE: `unix://${socket}` } });
    const project = join(daemon.scratch, "project");
    mkdirSync(project, { mode: 0o755 });
    writeFileSync(join(project, "hello.txt"), "hello\n", { mode: 0o644 });
    await daemon.client.createBox({
      name: "moved-box",
      projectDir: project,
      flags: { workspace: { mode: "copy" }, services: { beat: { command: "exec sleep 600" } } },
    });
    const inBox = async (script: string) =>
      (await daemon.cli(["exec", "moved-box", "--", "sh", "-c", script])).stdout;
    expect(await inBox("echo mine > ~/mine; echo work >> hello.txt; cat ~/mine hello.txt")).toBe(
      "mine\nhello\nwork\n",
    );
    const { box: before, paths } = await daemon.client.getBox("moved-box");
    const move = (to: string) => daemon.cli(["move", "moved-box", "--runtime", to, "--yes", "--json"]);

    const there = await move("docker");
    expect({ code: there.code, stderr: there.stderr }).toMatchObject({ code: 0 });
    const { box: moved } = await daemon.client.getBox("moved-box");
    expect(moved).toMatchObject({
      incarnation: before.incarnation,
      owner: before.owner,
      spec: { ...before.spec, runtime: "docker" },
      isolation: { tier: "container" },
      state: { phase: "running" },
    });
    expect(await inBox("cat ~/mine hello.txt; echo more > ~/more")).toBe("mine\nhello\nwork\n");
    expect((await daemon.client.listSessions("moved-box")).services).toMatchObject([{ state: "ready" }]);
    expect(statSync(join(paths.home, "more")).uid).toBe(before.owner.uid);

    expect((await move("bubblewrap")).code).toBe(0);
    expect(await inBox("cat ~/more")).toBe("more\n");
    const { box: back } = await daemon.client.getBox("moved-box");
    expect(back).toMatchObject({ spec: before.spec, isolation: before.isolation });
    const { events } = await daemon.client.listEvents({ box: "moved-box", type: "box.moved", limit: 10 });
    expect(events.map(({ data }) => data)).toEqual([
      { from: "bubblewrap", to: "docker" },
      { from: "docker", to: "bubblewrap" },
    ]);
    await daemon.client.removeBox("moved-box", { force: true });
  },
);
