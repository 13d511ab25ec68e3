// `agentbox run --runtime docker shell -- true` with a warm daemon against `docker run --rm` of `/bin/true` with every
// flag of the box's container, at the same engine: both from the start of the client process to its end, in turns,
// median of 15. The peer starts the program alone. Ours also makes a workspace, starts boxd (a Node process) as the
// box's supervisor, runs the program through it, asks whether the workspace has changed and keeps a record; the peer
// waits until its container is removed, and ours removes the container after it has answered, before the peer's turn.
import { waitFor } from "../src/base/wait-for.ts";
import { withDaemon } from "../test/support/daemon.ts";
import { type Bench, alternate, compare } from "./support/bench.ts";
import { agentbox, mustRun } from "./support/agentbox.ts";
import { dockerRun, flagsOfBox } from "./support/docker-run.ts";
import { withEngine } from "./support/engine.ts";

const name = "run-docker-vs-docker";
const model = "model";

const bench: Bench = {
  name,
  about: "agentbox run --runtime docker shell -- true against docker run --rm with the same flags",
  needs: { dockerd: "docker.io", docker: "docker.io" },
  run: () =>
    withEngine(name, (socket) =>
      withDaemon(
        async (daemon) => {
          const runtime = { name: "docker" };
          await daemon.client.createBox({
            name: model,
            flags: { runtime, workspace: { mode: "empty" } },
          });
          const flags = await flagsOfBox(socket, model, daemon.scratch);
          const peer = dockerRun(socket, flags, { program: "/bin/true" });
          const times = await alternate(
            15,
            () => agentbox(daemon, ["run", "--runtime", "docker", "shell", "--", "true"]),
            () => mustRun(peer),
            () => waitFor("the box is removed", async () => (await daemon.client.listBoxes()).length === 1),
          );
          return [compare({ name, unit: "ms", ...times, peerName: "docker run, same flags", goal: 1.15 })];
        },
        { env: { AGENTBOX_ENGINE: `unix://${socket}` } },
      ),
    ),
};
export default bench;
