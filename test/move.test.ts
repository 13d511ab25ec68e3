import { afterEach, beforeEach, expect, it } from "vitest";
import type { Core } from "../src/core/context.ts";
import { moveBox } from "../src/core/box/move-box.ts";
import { pauseBox } from "../src/core/box/pause-box.ts";
import { reconcile } from "../src/core/box/reconcile.ts";
import { captureExec } from "../src/core/exec/run-in-box.ts";
import { stopBox } from "../src/core/box/stop-box.ts";
import { createMemoryModule } from "../src/drivers/runtime/memory/index.ts";
import type { RuntimeModule } from "../src/ports/runtime.ts";
import { createOn, eventTypes, openTestCore, openTestHost, type TestHost } from "./support/core.ts";

/** Like the first, but of another kind and with a limit that it holds. */
function secondModule(): RuntimeModule {
  const module = createMemoryModule();
  return {
    ...module,
    name: "second",
    open: async (options) => {
      const runtime = await module.open(options);
      const { guarantees } = runtime.isolation({ resources: { required: [] } });
      return { ...runtime, name: "second", isolation: () => ({ tier: "container", guarantees }) };
    },
  };
}
const absent: RuntimeModule = {
  ...createMemoryModule(),
  name: "absent",
  probe: async () => ({
    status: "absent",
    reason: "it is not installed",
    fix: { hint: "Install it.", packages: [] },
  }),
};

let host: TestHost;
let core: Core & AsyncDisposable;
const runtimes = { second: secondModule(), absent };
beforeEach(async () => {
  host = await openTestHost();
  core = await openTestCore(host, { runtimes });
  await reconcile(core);
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const onRuntime = async (runtime: string, name: string) =>
  (await core.ports.runtimes.get(runtime)).find(name);

it("keeps everything that makes a box this box, and what ran goes on", async () => {
  const { box: before } = await createOn(core, { name: "a-box" });
  const moved = await moveBox(core, "a-box", { runtime: "second" });
  expect(moved.spec).toEqual({ ...before.spec, runtime: "second" });
  expect(moved).toMatchObject({
    name: before.name,
    incarnation: before.incarnation,
    owner: before.owner,
    createdAtMs: before.createdAtMs,
    isolation: { tier: "container" },
    state: { phase: "running" },
  });
  expect((await captureExec(core, "a-box", ["echo", "here"])).stdout).toBe("here\n");
  expect(await onRuntime("memory", "a-box")).toBeUndefined();
  expect(await onRuntime("second", "a-box")).toMatchObject({ phase: "running" });
  const { data } = (await host.store.listEvents({ limit: 100, box: "a-box", type: "box.moved" }))[0]!;
  expect(data).toEqual({ from: "memory", to: "second" });
});

it("lets a box that rested rest, and starts one that was paused", async () => {
  await createOn(core, { name: "resting", start: false });
  expect((await moveBox(core, "resting", { runtime: "second" })).state.phase).toBe("stopped");
  expect(await onRuntime("second", "resting")).toBeUndefined();
  await createOn(core, { name: "paused" });
  await pauseBox(core, "paused");
  expect((await moveBox(core, "paused", { runtime: "second" })).state.phase).toBe("running");
});

it("is found on its new runtime by the next daemon", async () => {
  await createOn(core, { name: "a-box" });
  await moveBox(core, "a-box", { runtime: "second" });
  await core[Symbol.asyncDispose]();
  core = await openTestCore(host, { runtimes });
  await reconcile(core);
  expect((await core.getBox("a-box")).state.phase).toBe("running");
  expect((await captureExec(core, "a-box", ["echo", "still"])).stdout).toBe("still\n");
});

it.each([
  ["nowhere", "runtime.unknown"],
  ["memory", "input.invalid"],
  ["absent", "runtime.absent"],
])("changes nothing when it cannot go to %s", async (runtime, code) => {
  await createOn(core, { name: "a-box" });
  const before = await core.getBox("a-box");
  await expect(moveBox(core, "a-box", { runtime })).rejects.toMatchObject({ code });
  expect(await core.getBox("a-box")).toEqual(before);
  expect((await captureExec(core, "a-box", ["echo", "on"])).stdout).toBe("on\n");
  expect(await eventTypes(core, "a-box")).not.toContain("box.moved");
});

it("is refused, with nothing changed, where a limit asked for by name cannot be held", async () => {
  await createOn(core, { name: "a-box", start: false });
  const box = await core.getBox("a-box");
  // As a runtime that can hold it would have made it.
  const limited = {
    ...box,
    spec: { ...box.spec, resources: { memoryBytes: 2 ** 30, required: ["memory"] } },
  };
  await core.commit({ update: limited as typeof box, events: [] });
  await expect(moveBox(core, "a-box", { runtime: "second" })).rejects.toMatchObject({
    code: "policy.unenforceable",
  });
  expect((await core.getBox("a-box")).spec.runtime).toBe("memory");
});

it("can be moved back", async () => {
  await createOn(core, { name: "a-box" });
  await moveBox(core, "a-box", { runtime: "second" });
  await stopBox(core, "a-box");
  expect((await moveBox(core, "a-box", { runtime: "memory" })).isolation.tier).toBe("none");
});
