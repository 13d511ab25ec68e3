// `agentbox run shell -- true` in the embedded runtime, with a warm daemon, against a plain `docker run --rm` of
// `/bin/true` without network and with nothing else said: both from the start of the client process to its end, in
// turns, median of 15. The image is the host's own system, read-only, and is there before the clock starts.
import { withDaemon } from "../test/support/daemon.ts";
import { type Bench, alternate, compare } from "./support/bench.ts";
import { agentbox, mustRun } from "./support/agentbox.ts";
import { dockerRun, flagsOfBox } from "./support/docker-run.ts";
import { withEngine } from "./support/engine.ts";

const name = "run-shell-vs-docker";
const model = "model";
/** The files that a program of the host needs in an empty container. */
const system = ["--network", "none", "--mount", "type=bind,src=/usr,dst=/usr,readonly"];

const bench: Bench = {
  name,
  about: "agentbox run shell -- true against docker run --rm IMAGE true",
  needs: { bwrap: "bubblewrap", dockerd: "docker.io", docker: "docker.io" },
  run: () =>
    withEngine(name, (socket) =>
      withDaemon(
        async (daemon) => {
          // A box in a container makes the engine have an image; no registry is asked for one.
          const flags = { runtime: { name: "docker" }, workspace: { mode: "empty" as const } };
          await daemon.client.createBox({ name: model, flags });
          const { image } = await flagsOfBox(socket, model, daemon.scratch);
          await daemon.client.removeBox(model, { force: true });
          const peer = dockerRun(socket, { image, flags: system }, { program: "/bin/true" });
          const times = await alternate(
            15,
            () => agentbox(daemon, ["run", "shell", "--", "true"]),
            () => mustRun(peer),
          );
          return [compare({ name, unit: "ms", ...times, peerName: "docker run", goal: 0.6 })];
        },
        { env: { AGENTBOX_ENGINE: `unix://${socket}` } },
      ),
    ),
};
export default bench;
