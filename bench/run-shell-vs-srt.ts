// `agentbox run shell -- true` with a warm daemon against Anthropic's `srt true`, which confines one command and keeps
// nothing: both from the start of the client process to its end, in turns, median of 15. srt is the newest
// version that this Node may run, installed into a cache outside the repository; both run as the same user.
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { withDaemon } from "../test/support/daemon.ts";
import { runProgram } from "../test/support/program.ts";
import { type Bench, alternate, compare } from "./support/bench.ts";
import { agentbox, mustRun } from "./support/agentbox.ts";

const name = "run-shell-vs-srt";
const packageName = "@anthropic-ai/sandbox-runtime";

type Peer = { readonly srt: string; readonly version: string } | { readonly skipped: string };

/** `>=20.11`, `^20 || >=22`: enough of ranges for what this one package writes in `engines`. */
function acceptsThisNode(range: string | undefined): boolean {
  const running = process.versions.node.split(".").map(Number);
  return (range ?? "*").split("||").some((part) => {
    const wanted = /(\^|>=|~)?\s*v?(\d+)(?:\.(\d+))?/.exec(part);
    if (!wanted) return true;
    const [, operator, major, minor] = wanted;
    const [runningMajor = 0, runningMinor = 0] = running;
    if (runningMajor === Number(major)) return runningMinor >= Number(minor ?? 0);
    return operator === ">=" && runningMajor > Number(major);
  });
}

async function newestVersion(): Promise<string | undefined> {
  const all = await runProgram(["npm", "view", packageName, "versions", "--json"]);
  if (all.code !== 0) return undefined;
  const versions = [JSON.parse(all.stdout)].flat() as string[];
  for (const version of versions.reverse()) {
    const { stdout } = await runProgram(["npm", "view", `${packageName}@${version}`, "engines.node"]);
    if (acceptsThisNode(stdout.trim() || undefined)) return version;
  }
  return undefined;
}

async function installPeer(): Promise<Peer> {
  const version = await newestVersion();
  if (!version)
    return { skipped: `no version of ${packageName} that Node ${process.versions.node} may run can be had` };
  const cache = join(homedir(), ".cache", "agentbox-bench", `srt-${version}`);
  const srt = join(cache, "node_modules/.bin/srt");
  if (!existsSync(srt)) {
    mkdirSync(cache, { recursive: true });
    const argv = [
      "npm",
      "install",
      "--no-save",
      "--ignore-scripts",
      "--prefix",
      cache,
      `${packageName}@${version}`,
    ];
    const { code, stderr } = await runProgram(argv, { cwd: cache, timeoutMs: 300_000 });
    if (code !== 0)
      return { skipped: `${packageName} could not be installed: ${stderr.trim().split("\n").at(-1)}` };
  }
  const trial = await runProgram([srt, "true"]);
  if (trial.code !== 0)
    return { skipped: `srt ${version} does not work here: ${trial.stderr.trim().split("\n").at(-1)}` };
  return { srt, version };
}

const bench: Bench = {
  name,
  about: "agentbox run shell -- true against srt true",
  needs: { socat: "socat", rg: "ripgrep", bwrap: "bubblewrap" },
  async run() {
    const peer = await installPeer();
    if ("skipped" in peer) return [{ name, skipped: peer.skipped }];
    return withDaemon(async (daemon) => {
      const times = await alternate(
        15,
        () => agentbox(daemon, ["run", "shell", "--", "true"]),
        () => mustRun([peer.srt, "true"], { cwd: daemon.scratch }),
      );
      return [compare({ name, unit: "ms", ...times, peerName: `srt ${peer.version}`, goal: 0.8 })];
    });
  },
};
export default bench;
