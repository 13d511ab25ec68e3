// The daemon's memory (VmRSS) over 100,000 inspected requests: the median of eight samples over the second 20,000 (the
// first warm it up) against the median of eight over the last. A single sample would measure when the collector ran.
// Flat is a growth of at most a tenth or of 10 MiB.
import { readFileSync } from "node:fs";
import { type Bench, compare, median } from "./support/bench.ts";
import { type LoadSpec, names, onGateGround, ports } from "./support/gate-ground.ts";

const name = "gate-memory";
const flatMib = 10;

const residentMib = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

const bench: Bench = {
  name,
  about: "memory of the daemon over 100,000 inspected requests",
  needs: { bwrap: "bubblewrap", ip: "iproute2" },
  run: () =>
    onGateGround(name, async ({ daemon, inBox }) => {
      const spec: LoadSpec = {
        kind: "requests",
        host: names.inspected,
        port: ports.https,
        tls: true,
        concurrency: 16,
      };
      const window = async (): Promise<number> => {
        const samples: number[] = [];
        for (let n = 0; n < 8; n++) {
          await inBox({ ...spec, count: 2_500 });
          samples.push(residentMib(daemon.pid));
        }
        return median(samples);
      };
      await inBox({ ...spec, count: 20_000 });
      const warm = await window();
      await inBox({ ...spec, count: 40_000 });
      const after = await window();
      const row = { name, unit: "MiB", ours: after, peer: warm, peerName: "requests 20,000 to 40,000" };
      return [compare({ ...row, goal: 1.1, alsoOk: after - warm <= flatMib })];
    }),
};
export default bench;
