/**
 * The duties of every runtime, as data. A driver passes when every case whose needs it meets does; the cases that look
 * inside a box are in runtime-inside.conformance.ts and part of the same list.
 */
import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { waitFor } from "../base/wait-for.ts";
import { isAgentBoxError } from "../base/errors.ts";
import type { ErrorCode } from "../base/error-codes.ts";
import type { ConformanceCase } from "./conformance.ts";
import { guardCases } from "./runtime-guard.conformance.ts";
import { insideCases } from "./runtime-inside.conformance.ts";
import { limitGuarantees, type RuntimeStatus } from "./runtime.ts";
import {
  countingScript,
  endingScript,
  type RuntimeContext,
  startUp,
  stubbornScript,
  waitForFile,
} from "./runtime-context.ts";

export { type RuntimeContext, type RuntimeSubject, withRuntimeContext } from "./runtime-context.ts";

const elapsed = (ms: number): (() => boolean) => {
  const end = Date.now() + ms;
  return () => Date.now() >= end;
};

const rejectsWith = (promise: () => Promise<unknown>, code: ErrorCode): Promise<void> =>
  assert.rejects(promise, (error) => {
    assert.ok(isAgentBoxError(error, code), `expected ${code}, got ${String(error)}`);
    return true;
  });

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
};

const hostileNames = [
  "",
  ".",
  "..",
  "../up",
  "a/b",
  "A",
  "a b",
  "-rf",
  "a\0b",
  "a\nb",
  "$(id)",
  "x".repeat(64),
  "a--b",
];

const test = (
  name: string,
  run: (context: RuntimeContext) => Promise<void>,
  needs: readonly string[] = [],
): ConformanceCase<RuntimeContext> => ({ name, needs, run });

const lifecycleCases = [
  test("probe says ready where the cases run", async ({ subject }) => {
    assert.equal((await subject.module.probe()).status, "ready");
  }),
  test("start, find, list, stop and remove tell one story", async (context) => {
    const { runtime, makeBox } = context;
    const box = await makeBox("story");
    assert.equal(await runtime.find("story"), undefined);
    assert.equal((await startUp(context, box)).phase, "running");
    assert.equal((await runtime.find("story"))?.phase, "running");
    assert.deepEqual(
      (await runtime.list()).map(({ name, phase }) => ({ name, phase })),
      [{ name: "story", phase: "running" }],
    );
    await runtime.stop("story", { graceMs: 5_000 });
    assert.equal((await runtime.find("story"))?.phase, "stopped");
    await runtime.remove("story");
    assert.equal(await runtime.find("story"), undefined);
    assert.deepEqual(await runtime.list(), []);
  }),
  test("every verb can be repeated", async (context) => {
    const { runtime, makeBox } = context;
    const box = await makeBox("again");
    const first = await startUp(context, box);
    assert.deepEqual(await runtime.start(box), first);
    for (const verb of ["pause", "pause", "resume", "resume"] as const) await runtime[verb]("again");
    for (let i = 0; i < 2; i++) await runtime.stop("again", { graceMs: 5_000 });
    assert.equal((await runtime.start(box)).phase, "running");
    for (let i = 0; i < 2; i++) await runtime.remove("again");
  }),
  test("a box outlives the runtime that started it", async (context) => {
    const { runtime, makeBox, reopen } = context;
    const started = await startUp(context, await makeBox("heir"));
    await runtime[Symbol.asyncDispose]();
    const next = await reopen();
    assert.deepEqual(await next.find("heir"), started);
    await next.stop("heir", { graceMs: 5_000 });
    assert.equal((await next.find("heir"))?.phase, "stopped");
  }),
  test("pause and resume are seen by find, also by another runtime", async (context) => {
    const { runtime, makeBox, reopen } = context;
    await startUp(context, await makeBox("still"));
    await runtime.pause("still");
    assert.equal((await runtime.find("still"))?.phase, "paused");
    const next = await reopen();
    assert.equal((await next.find("still"))?.phase, "paused");
    await next.resume("still");
    assert.equal((await runtime.find("still"))?.phase, "running");
  }),
  test("a paused box can be stopped and removed", async (context) => {
    const { runtime, makeBox } = context;
    for (const name of ["frozen-one", "frozen-two"]) {
      await startUp(context, await makeBox(name));
      await runtime.pause(name);
    }
    await runtime.stop("frozen-one", { graceMs: 5_000 });
    assert.equal((await runtime.find("frozen-one"))?.phase, "stopped");
    await runtime.remove("frozen-two");
    assert.equal(await runtime.find("frozen-two"), undefined);
  }),
  test("the end of a box is told once", async (context) => {
    const { runtime, makeBox } = context;
    const ends: RuntimeStatus[] = [];
    runtime.onEnd((status) => ends.push(status));
    const deaf: RuntimeStatus[] = [];
    runtime.onEnd((status) => deaf.push(status))();
    const box = await makeBox("once");
    await startUp(context, box);
    await runtime.stop("once", { graceMs: 5_000 });
    await runtime.stop("once", { graceMs: 5_000 });
    await waitFor("the end", () => ends.length > 0);
    await startUp(context, box);
    await runtime.remove("once");
    await waitFor("the second end", () => ends.length > 1);
    assert.deepEqual(
      ends.map(({ name, phase }) => `${name} ${phase}`),
      ["once stopped", "once stopped"],
    );
    assert.deepEqual(deaf, []);
  }),
  test("unknown boxes: nothing to stop or remove, nothing to pause", async ({ runtime }) => {
    await runtime.stop("nobody", { graceMs: 0 });
    await runtime.remove("nobody");
    assert.equal(await runtime.find("nobody"), undefined);
    assert.equal(await runtime.usage("nobody"), undefined);
    await rejectsWith(() => runtime.pause("nobody"), "box.not_found");
    await rejectsWith(() => runtime.resume("nobody"), "box.not_found");
  }),
  test("a stopped box cannot be paused", async (context) => {
    const { runtime, makeBox } = context;
    await startUp(context, await makeBox("halted"));
    await runtime.stop("halted", { graceMs: 5_000 });
    await rejectsWith(() => runtime.pause("halted"), "box.wrong_phase");
    assert.equal(await runtime.usage("halted"), undefined);
  }),
  test("hostile names are refused by every verb", async ({ runtime, makeBox }) => {
    const good = await makeBox("good");
    for (const name of hostileNames) {
      await rejectsWith(async () => runtime.start({ ...good, name }), "box.name_invalid");
      await rejectsWith(async () => runtime.stop(name, { graceMs: 0 }), "box.name_invalid");
      await rejectsWith(async () => runtime.remove(name), "box.name_invalid");
      await rejectsWith(async () => runtime.pause(name), "box.name_invalid");
      await rejectsWith(async () => runtime.find(name), "box.name_invalid");
      await rejectsWith(async () => runtime.usage(name), "box.name_invalid");
    }
    assert.deepEqual(await runtime.list(), []);
  }),
  test("several boxes at once stay apart", async (context) => {
    const { runtime, makeBox } = context;
    const names = ["team-a", "team-b", "team-c", "team-d"];
    await Promise.all(names.map(async (name) => startUp(context, await makeBox(name))));
    await runtime.remove("team-b");
    await runtime.stop("team-c", { graceMs: 5_000 });
    const phases = Object.fromEntries((await runtime.list()).map(({ name, phase }) => [name, phase]));
    assert.deepEqual(phases, { "team-a": "running", "team-c": "stopped", "team-d": "running" });
  }),
  test("usage counts a running box", async (context) => {
    const { runtime, makeBox } = context;
    await startUp(context, await makeBox("counted"));
    const usage = await runtime.usage("counted");
    assert.ok(usage !== undefined && usage.processes >= 1);
  }),
  test("isolation names every guarantee", async ({ runtime }) => {
    const { guarantees } = runtime.isolation({ resources: { required: [] } });
    const names = guarantees.map(({ name }) => name);
    for (const name of [
      "network",
      "filesystem",
      "processes",
      "users",
      "capabilities",
      "syscalls",
      "terminal",
    ]) {
      assert.ok(names.includes(name), `no word about ${name}`);
    }
    for (const name of Object.values(limitGuarantees))
      assert.ok(names.includes(name), `no word about the ${name}`);
    assert.ok(guarantees.every(({ by }) => by !== ""));
  }),
  test("a limit asked for by name holds or is refused", async (context) => {
    const { runtime, makeBox } = context;
    const amounts = { cpus: 1, memoryBytes: 512 * 2 ** 20, pids: 256 };
    for (const limit of ["cpus", "memory", "pids"] as const) {
      const resources = { ...amounts, required: [limit] };
      const { guarantees } = runtime.isolation({ resources });
      const guarantee = guarantees.find(({ name }) => name === limitGuarantees[limit]);
      const box = await makeBox(`limit-${limit}`, { resources });
      if (guarantee?.isEnforced) await startUp(context, box);
      else await rejectsWith(() => runtime.start(box), "policy.unenforceable");
    }
    // Not asked for by name: shown as not enforced, but no reason to refuse.
    await startUp(context, await makeBox("limit-soft", { resources: { ...amounts, required: [] } }));
  }),
  test("remove leaves no record", async (context) => {
    const { runtime, makeBox } = context;
    const box = await makeBox("trace");
    await startUp(context, box);
    await runtime.remove("trace");
    assert.deepEqual(await readdir(box.dirs.runtime), []);
  }),
];

const processCases = [
  test(
    "a box that ignores the request to end is killed after the grace",
    async (context) => {
      const { runtime, makeBox } = context;
      const box = await makeBox("stubborn", { script: stubbornScript });
      const { pid } = await startUp(context, box);
      await runtime.stop("stubborn", { graceMs: 300 });
      assert.equal(await readFile(join(box.dirs.workspace, "asked"), "utf8"), "yes");
      assert.ok(isGone(pid!));
    },
    ["processes"],
  ),
  test(
    "a box that ends by itself is noticed, with its exit code, by its starter and by an heir",
    async (context) => {
      const { runtime, makeBox, reopen } = context;
      const box = await makeBox("finite", { script: endingScript });
      await startUp(context, box);
      const heir = await reopen();
      const ends: RuntimeStatus[] = [];
      runtime.onEnd((status) => ends.push(status));
      heir.onEnd((status) => ends.push(status));
      await writeFile(join(box.dirs.workspace, "end"), "");
      await waitFor("both to notice", () => ends.length === 2);
      for (const { phase, exitCode } of ends)
        assert.deepEqual({ phase, exitCode }, { phase: "stopped", exitCode: 3 });
      assert.equal((await heir.find("finite"))?.exitCode, 3);
    },
    ["processes"],
  ),
  test(
    "a paused box does nothing, a resumed one goes on",
    async (context) => {
      const { runtime, makeBox } = context;
      const box = await makeBox("counter", { script: countingScript });
      await startUp(context, box);
      const count = async (): Promise<number> =>
        Number(await readFile(join(box.dirs.workspace, "count"), "utf8").catch(() => "0"));
      const grows = async (): Promise<void> => {
        const before = await count();
        await waitFor("the count to grow", async () => (await count()) > before);
      };
      await grows();
      await runtime.pause("counter");
      // A frozen program gets no processor time; a kernel of the box's own may take a little for itself.
      const cpuMs = async (): Promise<number> => (await runtime.usage("counter"))?.cpuMs ?? Number.NaN;
      const before = { count: await count(), cpuMs: await cpuMs() };
      const watchedMs = 400;
      await waitFor("some time to pass", elapsed(watchedMs));
      assert.equal(await count(), before.count);
      assert.ok((await cpuMs()) - before.cpuMs < watchedMs / 20, "it took processor time");
      await runtime.resume("counter");
      await grows();
      await waitFor(
        "processor time to be taken",
        async () => (await cpuMs()) - before.cpuMs > watchedMs / 20,
      );
    },
    ["processes"],
  ),
  test(
    "remove ends every process",
    async (context) => {
      const { runtime, makeBox } = context;
      const { pid } = await startUp(context, await makeBox("alive"));
      assert.ok(!isGone(pid!));
      await runtime.remove("alive");
      assert.ok(isGone(pid!));
    },
    ["processes"],
  ),
  test(
    "a box that cannot come up says why",
    async ({ runtime, makeBox }) => {
      const box = await makeBox("hopeless");
      const broken = { ...box, tools: { ...box.tools, node: join(box.dirs.home, "no-such-node") } };
      await assert.rejects(runtime.start(broken), (error) => {
        assert.ok(isAgentBoxError(error, "box.start_failed"));
        assert.match(error.message, /no-such-node/);
        return true;
      });
      assert.notEqual((await runtime.find("hopeless"))?.phase, "running");
      assert.equal((await runtime.start(box)).phase, "running");
      await waitForFile(box, "up");
    },
    ["processes"],
  ),
];

export const runtimeConformance: readonly ConformanceCase<RuntimeContext>[] = [
  ...lifecycleCases,
  ...processCases,
  ...insideCases,
  ...guardCases,
];
