import { afterAll, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import type { ServiceSpec } from "../../contract/box.ts";
import type { ServiceStatus } from "../../contract/link/messages.ts";
import { collect, FixtureBox, removeBuild } from "./box.fixture.ts";

afterAll(removeBuild);

const service = (name: string, script: string, more: Partial<ServiceSpec> = {}): ServiceSpec => ({
  name,
  argv: ["sh", "-c", script],
  env: {},
  after: [],
  ready: { kind: "none" },
  readyTimeoutMs: 10_000,
  restart: "no",
  ...more,
});

async function startWith(...services: ServiceSpec[]) {
  const changes: ServiceStatus[] = [];
  const box = await FixtureBox.start({
    services,
    listener: { serviceChanged: (status) => changes.push(status) },
  });
  const state = async (name: string) => (await box.link.health()).services.find((one) => one.name === name)!;
  const becomes = (name: string, wanted: ServiceStatus["state"]) =>
    waitFor(`${name} is ${wanted}`, async () => (await state(name)).state === wanted);
  return Object.assign(box, { changes, state, becomes });
}

test("services start after those they come after, each kind of readiness", async () => {
  const server = `require("net").createServer().listen(Number(process.argv[1]), "127.0.0.1")`;
  const port = 20_000 + (process.pid % 20_000);
  await using box = await startWith(
    service("last", "echo last >> order; sleep 1000", { after: ["port", "command"] }),
    service("port", "", {
      argv: [process.execPath, "-e", server, String(port)],
      after: ["log"],
      ready: { kind: "port", port },
    }),
    service("command", "echo command >> order; sleep 0.1; touch flag; sleep 1000", {
      after: ["log"],
      ready: { kind: "command", argv: ["test", "-e", "flag"] },
    }),
    service("log", "echo log >> order; echo starting; sleep 0.1; echo now listening; sleep 1000", {
      after: ["task"],
      ready: { kind: "log", pattern: "^now listen" },
    }),
    service("task", "echo task >> order"),
  );
  await box.becomes("last", "ready");
  const order = async () => (await box.exec(["cat", "order"])).stdout;
  await waitFor("all have started", async () => (await order()).includes("last"));
  expect(await order()).toBe("task\nlog\ncommand\nlast\n");
  expect((await box.state("task")).state).toBe("stopped");
  const follow = await box.open({ kind: "follow", source: "service:log", offset: 0 });
  const all = collect(follow);
  await box.link.shutdown(3_000);
  expect(await all).toMatchObject({ stdout: "starting\nnow listening\n", last: { type: "end" } });
});

test("services end against the order they started in", async () => {
  const script = (name: string) =>
    `trap 'echo ${name} >> ended; exit 0' TERM; echo up; while :; do sleep 0.02; done`;
  const ready = { kind: "log" as const, pattern: "up" };
  await using box = await startWith(
    service("base", script("base"), { ready }),
    service("top", script("top"), { after: ["base"], ready }),
  );
  await box.becomes("top", "ready");
  const ended = collect(await box.open({ kind: "follow", source: "service:base", offset: 0 }));
  await box.link.shutdown(5_000);
  await ended;
  await waitFor("boxd has ended", () => box.boxd.exitCode !== null);
  const { readFile } = await import("node:fs/promises");
  expect(await readFile(`${box.workspace}/ended`, "utf8")).toBe("top\nbase\n");
});

test("a service that fails is started again with growing waits, one that may not is left", async () => {
  await using box = await startWith(
    service("flaky", "echo try >> tries; test $(wc -l < tries) -ge 3 && sleep 1000; exit 9", {
      restart: "on-failure",
    }),
    service("done", "exit 0", { restart: "on-failure" }),
    service("broken", "exit 7", { ready: { kind: "log", pattern: "never" } }),
    service("missing", "", { argv: ["no-such-program"] }),
    service("dependent", "sleep 1000", { after: ["broken"] }),
  );
  await waitFor("two restarts", async () => (await box.state("flaky")).restarts === 2);
  await box.becomes("flaky", "ready");
  expect(box.changes.some(({ name, state }) => name === "flaky" && state === "backing_off")).toBe(true);
  expect(await box.state("done")).toMatchObject({ state: "stopped", restarts: 0, exitCode: 0 });
  expect(await box.state("broken")).toMatchObject({
    state: "failed",
    exitCode: 7,
    message: "It ended with 7.",
  });
  expect((await box.state("missing")).message).toContain("no-such-program");
  expect(await box.state("dependent")).toMatchObject({
    state: "failed",
    message: expect.stringContaining("broken"),
  });
});

test("a service that is never ready is ended and has failed", async () => {
  await using box = await startWith(
    service("late", "sleep 1000", { ready: { kind: "log", pattern: "never" }, readyTimeoutMs: 100 }),
    service("bad", "sleep 1000", { ready: { kind: "log", pattern: "(" } }),
  );
  await box.becomes("late", "failed");
  expect((await box.state("late")).message).toContain("100 ms");
  await box.becomes("bad", "failed");
});

test("a cycle does not hang boxd, and the others start", async () => {
  await using box = await startWith(
    service("one", "sleep 1000", { after: ["two"] }),
    service("two", "sleep 1000", { after: ["one"] }),
    service("lost", "sleep 1000", { after: ["nobody"] }),
    service("fine", "sleep 1000"),
  );
  await box.becomes("fine", "ready");
  for (const name of ["one", "two", "lost"]) expect((await box.state(name)).state).toBe("failed");
});
