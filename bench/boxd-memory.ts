// The private memory of boxd in an idle box (Private_Clean + Private_Dirty of smaps_rollup), median of 5 boxes two
// seconds after their start, against an idle Node process: what boxd adds to the language it is written in.
import { readFileSync, readdirSync } from "node:fs";
import { spawn } from "node:child_process";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withDaemon } from "../test/support/daemon.ts";
import { whyNoBubblewrap } from "../test/support/host-facts.ts";
import { type Bench, compare, median } from "./support/bench.ts";

const name = "boxd-memory";
const boxes = 5;
/** A garbage collection comes some time after start-up work; until then memory is not what an idle box costs. */
const settleMs = 2_000;

function privateMib(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const kib = [...rollup.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)].map((match) =>
    Number(match[1]),
  );
  return kib.reduce((sum, value) => sum + value, 0) / 1024;
}

const parentOf = (pid: number) =>
  Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

/** boxd is the Node process of the box: the box's first process, or the one below it. */
function findBoxd(first: number): number {
  const family = [first];
  for (const entry of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    try {
      if (family.includes(parentOf(Number(entry)))) family.push(Number(entry));
    } catch {
      // It ended while we looked.
    }
  }
  const found = family.find((pid) => {
    const [program = "", ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return basename(program) === "node" && args.some((arg) => /boxd\.m?js$/.test(arg));
  });
  if (found === undefined) throw new Error(`No boxd below process ${first}.`);
  return found;
}

async function idleNodeMib(): Promise<number> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e9)"], { stdio: "ignore" });
  try {
    await sleep(settleMs);
    return privateMib(child.pid ?? -1);
  } finally {
    child.kill("SIGKILL");
  }
}

const bench: Bench = {
  name,
  about: "private memory of boxd per idle box against an idle Node process",
  needs: { bwrap: "bubblewrap" },
  async run() {
    const missing = await whyNoBubblewrap();
    if (missing) return [{ name, skipped: missing }];
    return withDaemon(async ({ client }) => {
      const names = Array.from({ length: boxes }, (_, index) => `idle-${index}`);
      for (const box of names) await client.createBox({ name: box, flags: { workspace: { mode: "empty" } } });
      await sleep(settleMs);
      const pids = await Promise.all(names.map(async (box) => (await client.getBox(box)).pid ?? -1));
      const ours = median(pids.map((pid) => privateMib(findBoxd(pid))));
      const idle = [await idleNodeMib(), await idleNodeMib(), await idleNodeMib()];
      return [compare({ name, unit: "MiB", ours, peer: median(idle), peerName: "an idle node process" })];
    });
  },
};
export default bench;
