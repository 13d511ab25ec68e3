import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitFor } from "../src/base/wait-for.ts";
import type { Core } from "../src/core/context.ts";
import { pauseBox, resumeBox } from "../src/core/box/pause-box.ts";
import { pruneBoxes } from "../src/core/removal/prune-boxes.ts";
import { reconcile } from "../src/core/box/reconcile.ts";
import { removeBox } from "../src/core/removal/remove-box.ts";
import { restartBox } from "../src/core/box/restart-box.ts";
import { afterMain, captureExec } from "../src/core/exec/run-in-box.ts";
import { startBox } from "../src/core/boot/start-box.ts";
import { stopBox } from "../src/core/box/stop-box.ts";
import { watchLifetimes } from "../src/core/box/watch-lifetimes.ts";
import { createOn, eventTypes, openTestCore, openTestHost, type TestHost } from "./support/core.ts";

let host: TestHost;
let core: Core & AsyncDisposable;
beforeEach(async () => {
  host = await openTestHost();
  core = await openTestCore(host);
  await reconcile(core);
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const phaseOf = async (name: string) => (await host.store.findBox(name))?.state.phase;
const main = { terminal: false, cols: 80, rows: 24 } as const;

describe("a runtime that is away", () => {
  it("keeps the daemon from nothing, and is caught up with when it is back", async () => {
    await createOn(core, { name: "a-box" });
    const runtime = await core.ports.runtimes.get("memory");
    await core[Symbol.asyncDispose]();
    let isAway = true;
    const module = {
      ...host.module,
      open: (options: { boxesDir: string }) =>
        isAway ? Promise.reject(new Error("away")) : host.module.open(options),
    };
    core = await openTestCore({ ...host, module });
    await reconcile(core);
    // As it was written down: it could not be looked up.
    expect(await phaseOf("a-box")).toBe("running");
    await expect(stopBox(core, "a-box")).rejects.toThrow("away");
    expect(core.live.has("a-box")).toBe(false);
    isAway = false;
    await core.ports.runtimes.get(runtime.name);
    await waitFor("it is adopted", async () => core.live.has("a-box"));
    expect((await captureExec(core, "a-box", ["echo", "hello"])).stdout).toBe("hello\n");
  });
});

describe("a box", () => {
  it("goes through its life, and the log tells it", async () => {
    await createOn(core, { name: "a-box", start: false });
    expect(await phaseOf("a-box")).toBe("stopped");
    await startBox(core, "a-box");
    expect((await captureExec(core, "a-box", ["echo", "hello"])).stdout).toBe("hello\n");
    await pauseBox(core, "a-box");
    await expect(captureExec(core, "a-box", ["true"])).rejects.toMatchObject({ code: "box.wrong_phase" });
    await resumeBox(core, "a-box");
    await restartBox(core, "a-box");
    await stopBox(core, "a-box");
    // The memory runtime has no git, so it cannot be told whether there is work.
    await expect(removeBox(core, "a-box", { force: false })).rejects.toMatchObject({
      code: "review.unmerged",
    });
    await removeBox(core, "a-box", { force: true });
    expect(await phaseOf("a-box")).toBeUndefined();
    const types = (await eventTypes(core, "a-box")).filter((type) => type.startsWith("box."));
    expect(types).toEqual([
      "box.created",
      "box.prepared",
      "box.starting",
      "box.started",
      "box.paused",
      "box.resumed",
      "box.stopping",
      "box.stopped",
      "box.starting",
      "box.started",
      "box.restarted",
      "box.stopping",
      "box.stopped",
      "box.removing",
      "box.removed",
    ]);
  });

  it("can be told the same thing twice", async () => {
    await createOn(core, { name: "a-box" });
    await startBox(core, "a-box");
    await pauseBox(core, "a-box");
    await pauseBox(core, "a-box");
    await resumeBox(core, "a-box");
    await resumeBox(core, "a-box");
    await stopBox(core, "a-box");
    await stopBox(core, "a-box");
    expect(await phaseOf("a-box")).toBe("stopped");
  });

  it("keeps its name to itself, also under a race", async () => {
    const tries = await Promise.allSettled(
      Array.from({ length: 5 }, () => createOn(core, { name: "a-box", start: false })),
    );
    expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const tried of tries)
      if (tried.status === "rejected") expect(tried.reason).toMatchObject({ code: "box.name_taken" });
  });

  it("is not removed while it runs, unless by force", async () => {
    await createOn(core, { name: "a-box" });
    await expect(removeBox(core, "a-box", { force: false })).rejects.toMatchObject({
      code: "box.wrong_phase",
      hint: expect.stringContaining("--force"),
    });
    await removeBox(core, "a-box", { force: true });
    expect(await phaseOf("a-box")).toBeUndefined();
  });

  it("leaves nothing when it cannot be made", async () => {
    await expect(
      createOn(core, {
        name: "a-box",
        projectDir: `${host.dir}/nowhere`,
        flags: { workspace: { mode: "copy" } },
      }),
    ).rejects.toMatchObject({ code: "workspace.source_invalid" });
    expect(await host.store.listBoxes()).toEqual([]);
    expect(await core.ports.storage.list()).toEqual([]);
  });

  it("is refused when a limit asked for by name cannot be held", async () => {
    await expect(
      createOn(core, { name: "a-box", flags: { resources: { memory: "1GiB" } } }),
    ).rejects.toMatchObject({
      code: "policy.unenforceable",
    });
    expect(await eventTypes(core)).toContain("limit.refused");
    expect(await host.store.listBoxes()).toEqual([]);
  });
});

describe("a main session", () => {
  it("takes its box with it when it ends", async () => {
    await createOn(core, { name: "a-box", main: { ...main, argv: ["exit", "3"] } });
    await waitFor("the box to get there", async () => (await phaseOf("a-box")) === "stopped");
    expect((await host.store.findBox("a-box"))?.state).toMatchObject({ reason: "finished", exitCode: 3 });
  });

  it("comes back as its restart policy says, until its box is removed", async () => {
    await createOn(core, {
      name: "a-box",
      main: { ...main, argv: ["exit", "1"] },
      flags: { lifecycle: { restart: "on-failure" } },
    });
    await waitFor(
      "the box to get there",
      async () => (await eventTypes(core, "a-box")).includes("box.restarted"),
      5_000,
    );
    await removeBox(core, "a-box", { force: true });
    expect(await host.store.findBox("a-box")).toBeUndefined();
    expect((await eventTypes(core, "a-box")).at(-1)).toBe("box.removed");
  });
});

describe("a restart of a box with a main session", () => {
  it("is not undone by the end of the session before", async () => {
    const { box } = await createOn(core, { name: "a-box", main: { ...main, argv: ["sleep", "60"] } });
    const [before] = (await core.live.get("a-box")!.link.health()).sessions;
    const restarting = restartBox(core, "a-box");
    // The old run's last words come while the restart is under way, and wait for it.
    core.reactions.sessionEnded(box, { ...before!, state: "ended", exitCode: null, signal: "HUP" });
    await restarting;
    // A use case of the same box waits its turn, so after this one the last words have been dealt with.
    await pauseBox(core, "a-box");
    expect(await phaseOf("a-box")).toBe("paused");
    expect(await eventTypes(core, "a-box")).not.toContain("session.ended");
  });
});

describe("what happens to a box when its command has ended", () => {
  it.each([
    ["keep", true],
    ["remove", false],
  ] as const)("%s", async (rule, isKept) => {
    const { box } = await createOn(core, { name: "a-box" });
    expect(await afterMain(core, box, rule, 0)).toEqual({ isKept, deniedHosts: [] });
    await waitFor(
      "the box to get there",
      async () => (await phaseOf("a-box")) === (isKept ? "stopped" : undefined),
    );
  });

  it("keeps it when it cannot tell whether there is work in it", async () => {
    const { box } = await createOn(core, { name: "a-box" });
    // The memory runtime has no `find`, so the size is unknown.
    expect(await afterMain(core, box, "remove_if_unchanged", 0)).toEqual({ isKept: true, deniedHosts: [] });
    await waitFor("it is stopped", async () => (await phaseOf("a-box")) === "stopped");
  });
});

describe("time", () => {
  it("ends a box at its TTL, also when the daemon was away", async () => {
    await createOn(core, { name: "a-box", flags: { lifecycle: { ttl: "1h" } } });
    await core[Symbol.asyncDispose]();
    host.clock.offsetMs += 2 * 3_600_000;
    core = await openTestCore(host);
    await reconcile(core);
    const stop = watchLifetimes(core);
    await waitFor("the box to get there", async () => (await phaseOf("a-box")) === "stopped", 5_000);
    stop();
    expect((await host.store.findBox("a-box"))?.state).toMatchObject({ reason: "ttl" });
    expect(await eventTypes(core, "a-box")).toContain("box.expired");
  });

  it("moves deadlines along when the clock is set", async () => {
    const { box } = await createOn(core, { name: "a-box", flags: { lifecycle: { ttl: "1h" } } });
    const stop = watchLifetimes(core);
    host.clock.offsetMs += 24 * 3_600_000;
    await waitFor(
      "the box to get there",
      async () => (await eventTypes(core)).includes("clock.jumped"),
      5_000,
    );
    await waitFor(
      "the box to get there",
      async () => (await host.store.findBox("a-box"))!.expiresAtMs !== box.expiresAtMs,
    );
    stop();
    const moved = (await host.store.findBox("a-box"))!;
    expect(moved.state.phase).toBe("running");
    expect(moved.expiresAtMs! - box.expiresAtMs!).toBeGreaterThan(23 * 3_600_000);
  });
});

describe("after a restart of the daemon", () => {
  const restart = async (options: { bootId?: string } = {}) => {
    await core[Symbol.asyncDispose]();
    core = await openTestCore(host, options);
    await reconcile(core);
  };

  it("a running box is adopted and works on", async () => {
    await createOn(core, { name: "a-box" });
    await restart();
    expect((await captureExec(core, "a-box", ["echo", "again"])).stdout).toBe("again\n");
    expect(await eventTypes(core, "a-box")).toContain("box.adopted");
  });

  it("a paused box is still paused", async () => {
    await createOn(core, { name: "a-box" });
    await pauseBox(core, "a-box");
    await restart();
    expect(await phaseOf("a-box")).toBe("paused");
    await resumeBox(core, "a-box");
    expect((await captureExec(core, "a-box", ["true"])).code).toBe(0);
  });

  it.each([
    ["boot-1", "died"],
    ["boot-2", "host_restarted"],
  ])("a box that is gone is marked (host boot %s: %s)", async (bootId, reason) => {
    await createOn(core, { name: "a-box" });
    await core[Symbol.asyncDispose]();
    await (await host.module.open({ boxesDir: `${host.dir}/b` })).remove("a-box");
    await restart({ bootId });
    expect((await host.store.findBox("a-box"))?.state).toMatchObject({ phase: "stopped", reason });
  });

  it("what was half-made or half-removed is gone, and what nobody knows too", async () => {
    const { box } = await createOn(core, { name: "a-box", start: false });
    const at = (name: string, phase: "creating" | "removing") => ({
      ...box,
      name,
      state: { phase, sinceMs: 0 } as const,
    });
    await host.store.commit({ insert: at("half-made", "creating"), events: [] });
    await host.store.commit({ insert: at("half-removed", "removing"), events: [] });
    const storage = core.ports.storage;
    await storage.create("nobodys", { owner: box.owner });
    await restart();
    expect((await host.store.listBoxes()).map(({ name }) => name)).toEqual(["a-box"]);
    expect(await storage.list()).toEqual(["a-box"]);
  });

  it("a start that was cut off is finished, a stop too", async () => {
    const { box } = await createOn(core, { name: "a-box" });
    await createOn(core, { name: "b-box" });
    await host.store.commit({ update: { ...box, state: { phase: "starting", sinceMs: 0 } }, events: [] });
    const other = (await host.store.findBox("b-box"))!;
    await host.store.commit({
      update: { ...other, state: { phase: "stopping", sinceMs: 0, reason: "requested" } },
      events: [],
    });
    await restart();
    expect(await phaseOf("a-box")).toBe("running");
    expect(await phaseOf("b-box")).toBe("stopped");
  });
});

describe("prune", () => {
  it("removes what is at rest and nothing else", async () => {
    await createOn(core, { name: "at-rest", start: false });
    await createOn(core, { name: "at-work" });
    expect((await pruneBoxes(core, { olderThanMs: 0, isDryRun: true, force: true })).removed).toEqual([
      "at-rest",
    ]);
    expect(await phaseOf("at-rest")).toBe("stopped");
    expect(
      (await pruneBoxes(core, { olderThanMs: 3_600_000, isDryRun: false, force: true })).removed,
    ).toEqual([]);
    expect((await pruneBoxes(core, { olderThanMs: 0, isDryRun: false, force: true })).removed).toEqual([
      "at-rest",
    ]);
    expect((await host.store.listBoxes()).map(({ name }) => name)).toEqual(["at-work"]);
  });
});
