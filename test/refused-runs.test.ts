import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentBoxError } from "../src/base/errors.ts";
import { waitFor } from "../src/base/wait-for.ts";
import type { Core } from "../src/core/context.ts";
import { unfinishedRemovals } from "../src/core/removal/finish-removals.ts";
import { reconcile } from "../src/core/box/reconcile.ts";
import { removeBox } from "../src/core/removal/remove-box.ts";
import type { Runtime } from "../src/ports/runtime.ts";
import { createOn, eventTypes, openTestCore, openTestHost, type TestHost } from "./support/core.ts";

let host: TestHost;
let core: Core & AsyncDisposable;
/** The engine of these tests refuses these. */
let refused = new Set<"start" | "remove">();

const away = () =>
  Promise.reject(new AgentBoxError("runtime.broken", "The container engine is not running."));
const refusing = (runtime: Runtime): Runtime =>
  new Proxy(runtime, {
    get: (target, name) => {
      if ((name === "start" || name === "remove") && refused.has(name)) return away;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });

beforeEach(async () => {
  refused = new Set();
  host = await openTestHost();
  const open = async (options: { boxesDir: string }) => refusing(await host.module.open(options));
  core = await openTestCore({ ...host, module: { ...host.module, open } });
  await reconcile(core);
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const phaseOf = async (name: string) => (await host.store.findBox(name))?.state.phase;
const directories = () => (existsSync(join(host.dir, "b")) ? readdirSync(join(host.dir, "b")) : []);

describe("a box that was to be there for one command", () => {
  it("leaves nothing when it is refused before anything ran, and the name is free", async () => {
    refused.add("start");
    await expect(createOn(core, { name: "a-box", ephemeral: true })).rejects.toMatchObject({
      code: "runtime.broken",
    });
    expect(await phaseOf("a-box")).toBeUndefined();
    expect(directories()).toEqual([]);
    expect((await eventTypes(core, "a-box")).slice(-3)).toEqual([
      "box.failed",
      "box.removing",
      "box.removed",
    ]);
    // The control: one that is meant to stay does, to be looked at and started again.
    await expect(createOn(core, { name: "a-box" })).rejects.toMatchObject({ code: "runtime.broken" });
    expect(await phaseOf("a-box")).toBe("failed");
    await removeBox(core, "a-box", { force: false });
    refused.clear();
    await createOn(core, { name: "a-box", ephemeral: true });
    expect(await phaseOf("a-box")).toBe("running");
  });
});

describe("a removal that was cut off", () => {
  it("is finished when the runtime is back, without a restart of the daemon", async () => {
    await createOn(core, { name: "a-box" });
    refused.add("remove");
    await expect(removeBox(core, "a-box", { force: true })).rejects.toMatchObject({ code: "runtime.broken" });
    expect(await phaseOf("a-box")).toBe("removing");
    const begunMs = host.clock.monotonicMs();
    let laterMs = 0;
    host.clock.monotonicMs = () => begunMs + laterMs;
    const finish = unfinishedRemovals(core);
    laterMs = 10_000;
    await finish();
    await core.locked("a-box", async () => expect(await phaseOf("a-box")).toBe("removing"));
    refused.clear();
    laterMs = 20_000;
    await finish();
    await waitFor("it is gone", async () => (await phaseOf("a-box")) === undefined);
    expect(directories()).toEqual([]);
  });
});
