// `agentbox build` with nothing changed, from the start of the client process to its end, median of 5, against the first
// build of the same manifest: Debian with one package from this host's mirror, Node and boxd. The goal is absolute: a
// second, so that building before every run costs no thought.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withDaemon } from "../test/support/daemon.ts";
import { mustRun } from "./support/agentbox.ts";
import { type Bench, compare, median, timeMs } from "./support/bench.ts";
import { withEngine } from "./support/engine.ts";

const name = "second-build";
const limitMs = 900_000;
const goalMs = 1_000;
const rounds = 5;

const manifest = `version = 1
[agent]
name = "shell"
[runtime]
name = "docker"
packages = ["hello"]
`;

/** The mirror may only be reachable through what this shell uses, too. */
const proxies = Object.fromEntries(
  ["http_proxy", "https_proxy", "no_proxy"].flatMap((variable) => {
    const value = process.env[variable];
    return value === undefined ? [] : [[variable, value]];
  }),
);

const bench: Bench = {
  name,
  about: "agentbox build with nothing changed against the first build",
  needs: { dockerd: "docker.io", docker: "docker.io", mmdebstrap: "mmdebstrap" },
  run: () =>
    withEngine(name, (socket) =>
      withDaemon(
        async (daemon) => {
          const project = join(daemon.scratch, "project");
          mkdirSync(project);
          writeFileSync(join(project, "agentbox.toml"), manifest);
          const { argv, env } = daemon.command(["build"]);
          const build = () => timeMs(() => mustRun(argv, { env, cwd: project, timeoutMs: limitMs }));
          const peer = await build();
          const times: number[] = [];
          for (let round = 0; round < rounds; round += 1) times.push(await build());
          const ours = median(times);
          const goal = Number((goalMs / peer).toPrecision(3));
          return [compare({ name, unit: "ms", ours, peer, peerName: "the first build", goal })];
        },
        { env: { ...proxies, AGENTBOX_ENGINE: `unix://${socket}` } },
      ),
    ),
};
export default bench;
