// `agentbox ls` with 1,000 boxes in the store against `node -e 0`, the floor of any program on Node: both from the
// start of the process to its end, in turns, median of 25. The boxes are made through the API, on the memory runtime.
import { withDaemon } from "../test/support/daemon.ts";
import { type Bench, alternate, compare } from "./support/bench.ts";
import { agentbox, mustRun } from "./support/agentbox.ts";

const name = "ls-1000-boxes";
const count = 1000;
const atOnce = 20;

const bench: Bench = {
  name,
  about: "agentbox ls with 1,000 boxes against node -e 0",
  run: () =>
    withDaemon(async (daemon) => {
      for (let first = 0; first < count; first += atOnce) {
        const batch = Array.from({ length: atOnce }, (_, index) => first + index);
        await Promise.all(
          batch.map((id) =>
            daemon.client.createBox({
              name: `team-app-${id}`,
              flags: { runtime: { name: "memory" }, workspace: { mode: "empty" } },
              start: false,
            }),
          ),
        );
      }
      const listed = await agentbox(daemon, ["ls"]);
      if (!listed.stdout.includes(`team-app-${count - 1}`))
        throw new Error("`agentbox ls` does not show all boxes.");
      const times = await alternate(
        25,
        () => agentbox(daemon, ["ls"]),
        () => mustRun([process.execPath, "-e", "0"]),
      );
      return [compare({ name, unit: "ms", ...times, peerName: "node -e 0", goal: 2 })];
    }),
};
export default bench;
