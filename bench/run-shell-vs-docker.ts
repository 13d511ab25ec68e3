// `agentbox run shell -- true` with a warm daemon against `docker run --rm IMAGE true` on the same machine: both from
// the start of the client process to its end, in turns, median of 15. The image is there before the clock starts.
import { withDaemon } from "../test/support/daemon.ts";
import { hasProgram } from "../test/support/host-facts.ts";
import { runProgram } from "../test/support/program.ts";
import { type Bench, alternate, compare } from "./support/bench.ts";
import { agentbox, mustRun } from "./support/agentbox.ts";

const name = "run-shell-vs-docker";

async function findEngine(): Promise<{ program: string; image: string } | { skipped: string }> {
  const program = ["docker", "podman"].find(hasProgram);
  if (!program) return { skipped: "neither docker nor podman is installed" };
  const info = await runProgram([program, "info"]);
  if (info.code !== 0) return { skipped: `${program} is installed, but no engine answers` };
  const { stdout } = await mustRun([program, "images", "--format", "{{.Repository}}:{{.Tag}}"]);
  const local = stdout
    .split("\n")
    .find((image) => /(alpine|busybox|debian)/.test(image) && !image.includes("<none>"));
  if (local) return { program, image: local };
  const pull = await runProgram([program, "pull", "alpine"], { timeoutMs: 120_000 });
  return pull.code === 0
    ? { program, image: "alpine" }
    : { skipped: `no image is there, and none can be pulled` };
}

const bench: Bench = {
  name,
  about: "agentbox run shell -- true against docker run --rm IMAGE true",
  async run() {
    const engine = await findEngine();
    if ("skipped" in engine) return [{ name, skipped: engine.skipped }];
    return withDaemon(async (daemon) => {
      const times = await alternate(
        15,
        () => agentbox(daemon, ["run", "shell", "--", "true"]),
        () => mustRun([engine.program, "run", "--rm", engine.image, "true"]),
      );
      return [
        compare({ name, unit: "ms", ...times, peerName: `${engine.program} run ${engine.image}`, goal: 0.6 }),
      ];
    });
  },
};
export default bench;
