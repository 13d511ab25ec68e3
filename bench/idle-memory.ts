// The memory that an idle box has for itself, in each runtime: boxd, what holds the box together (bubblewrap's
// processes, the engine's shim, gVisor's kernel and file server) and nothing that is shared with others; median of 5
// boxes two seconds after their start. The peer is `docker run --detach` of `sleep infinity` with the same flags and
// under the same OCI runtime, with its shim; for bubblewrap, with the flags of a box in Docker. Watched only.
import { setTimeout as sleep } from "node:timers/promises";
import { type TestDaemon, withDaemon } from "../test/support/daemon.ts";
import { engineRequest } from "../test/support/engine-request.ts";
import { gvisorUnavailable } from "../test/support/engines.ts";
import { whyNoBubblewrap } from "../test/support/host-facts.ts";
import { mustRun } from "./support/agentbox.ts";
import { type Bench, compare, median, type Result } from "./support/bench.ts";
import { dockerRun, flagsOfBox } from "./support/docker-run.ts";
import { type EngineSocket, withEngine } from "./support/engine.ts";
import { climb, commandOf, familyOf, ownMib } from "./support/memory.ts";

const name = "idle-memory";
const boxes = 5;
/** A garbage collection comes some time after start-up work; until then memory is not what an idle box costs. */
const settleMs = 2_000;

const runtimes: Readonly<Record<string, () => Promise<string | undefined>>> = {
  bubblewrap: whyNoBubblewrap,
  docker: async () => undefined,
  gvisor: async () => gvisorUnavailable(),
};

/** A container's shim and all below it: the first process is the shim's child, and the shim names the container. */
async function containerMib(socket: EngineSocket, container: string): Promise<number> {
  const { text } = await engineRequest(socket, "GET", `/v1.41/containers/${container}/json`);
  const { Id: id, State: state } = JSON.parse(text) as { Id: string; State: { Pid: number } };
  return ownMib(familyOf(climb(state.Pid, (pid) => commandOf(pid).includes(id))));
}

async function embeddedMib(daemon: TestDaemon, box: string): Promise<number> {
  const { pid = -1 } = await daemon.client.getBox(box);
  return ownMib(familyOf(climb(pid, (parent) => parent !== daemon.pid)));
}

async function makeBoxes({ client }: TestDaemon, runtime: string): Promise<readonly string[]> {
  const names = Array.from({ length: boxes }, (_, index) => `idle-${runtime}-${index}`);
  for (const box of names)
    await client.createBox({
      name: box,
      flags: { runtime: { name: runtime }, workspace: { mode: "empty" } },
    });
  return names;
}

async function measure(socket: EngineSocket, daemon: TestDaemon, runtime: string): Promise<Result> {
  const row = `${name}-${runtime}`;
  const missing = await runtimes[runtime]?.();
  if (missing !== undefined) return { name: row, skipped: missing };
  const ours = await makeBoxes(daemon, runtime);
  const [model = ""] = runtime === "bubblewrap" ? await makeBoxes(daemon, "docker") : ours;
  const flags = await flagsOfBox(socket, model, daemon.scratch);
  const peers = Array.from({ length: boxes }, (_, index) => `peer-${runtime}-${index}`);
  for (const peer of peers) {
    const more = ["--detach", "--rm", "--name", peer];
    await mustRun(dockerRun(socket, flags, { program: "/bin/sleep", args: ["infinity"], more }));
  }
  await sleep(settleMs);
  const oursMib: number[] = [];
  for (const box of ours)
    oursMib.push(
      runtime === "bubblewrap"
        ? await embeddedMib(daemon, box)
        : await containerMib(socket, `agentbox-${box}`),
    );
  const peerMib: number[] = [];
  for (const peer of peers) peerMib.push(await containerMib(socket, peer));
  for (const { name: box } of await daemon.client.listBoxes())
    await daemon.client.removeBox(box, { force: true });
  for (const peer of peers) await engineRequest(socket, "DELETE", `/v1.41/containers/${peer}?force=true`);
  const peerName = "docker run sleep, same flags";
  return compare({ name: row, unit: "MiB", ours: median(oursMib), peer: median(peerMib), peerName });
}

const bench: Bench = {
  name,
  about: "memory per idle box in each runtime against docker run sleep",
  needs: { bwrap: "bubblewrap", dockerd: "docker.io", docker: "docker.io", runsc: "runsc" },
  run: () =>
    withEngine(name, (socket) =>
      withDaemon(
        async (daemon) => {
          const results: Result[] = [];
          for (const runtime of Object.keys(runtimes)) results.push(await measure(socket, daemon, runtime));
          return results;
        },
        { env: { AGENTBOX_ENGINE: `unix://${socket}` } },
      ),
    ),
};
export default bench;
