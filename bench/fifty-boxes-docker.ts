// Fifty times `agentbox run --runtime docker shell -- true` at once against fifty times `docker run --rm` of `/bin/true`
// with the same flags at once, at the same engine: all of them must succeed, or the row fails. The time of each is
// from the start of its client process to its end; p99 of fifty is the slowest. Watched only.
import { waitFor } from "../src/base/wait-for.ts";
import { withDaemon } from "../test/support/daemon.ts";
import { mustRun } from "./support/agentbox.ts";
import { type Bench, compare, percentile, timeMs } from "./support/bench.ts";
import { dockerRun, flagsOfBox } from "./support/docker-run.ts";
import { withEngine } from "./support/engine.ts";

const name = "fifty-boxes-docker";
const model = "model";
const count = 50;
const limitMs = 600_000;

const atOnce = (work: () => Promise<unknown>): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, () => timeMs(work)));

const bench: Bench = {
  name,
  about: "fifty boxes at once in containers against fifty docker runs at once",
  needs: { dockerd: "docker.io", docker: "docker.io" },
  run: () =>
    withEngine(name, (socket) =>
      withDaemon(
        async (daemon) => {
          const runtime = { name: "docker" };
          await daemon.client.createBox({ name: model, flags: { runtime, workspace: { mode: "empty" } } });
          const flags = await flagsOfBox(socket, model, daemon.scratch);
          const { argv, env } = daemon.command(["run", "--runtime", "docker", "shell", "--", "true"]);
          const options = { env, cwd: daemon.scratch, timeoutMs: limitMs };
          const oursMs = await atOnce(() => mustRun(argv, options));
          const isTidy = async () => (await daemon.client.listBoxes()).length === 1;
          await waitFor("all boxes are removed", isTidy, limitMs);
          const peer = dockerRun(socket, flags, { program: "/bin/true" });
          const peerMs = await atOnce(() => mustRun(peer, { timeoutMs: limitMs }));
          const peerName = `${count} docker runs, same flags`;
          return [0.5, 0.99].map((share) =>
            compare({
              name: `${name}-p${share * 100}`,
              unit: "ms",
              ours: percentile(oursMs, share),
              peer: percentile(peerMs, share),
              peerName,
            }),
          );
        },
        { env: { AGENTBOX_ENGINE: `unix://${socket}` } },
      ),
    ),
};
export default bench;
