// The time that the gate adds to a small HTTPS request on a connection that stays open: the median of thousands of them from a
// program in a box, less the median of the same program outside that connects to the server itself. Median of 5 such
// medians. The goal is 1 ms, for connections that are passed through and for requests that are read.
import { type Bench, alternateValues, compare } from "./support/bench.ts";
import { type LoadSpec, names, onGateGround, ports } from "./support/gate-ground.ts";

const name = "gate-added-latency";
const rounds = 5;
const allowedMs = 1;

const bench: Bench = {
  name,
  about: "what the gate adds to a small HTTPS request (p50)",
  needs: { bwrap: "bubblewrap", ip: "iproute2" },
  run: () =>
    onGateGround(name, async (ground) => {
      const measure = async (kind: "tunnelled" | "inspected") => {
        const spec: LoadSpec = {
          kind: "requests",
          host: names[kind],
          port: ports.https,
          tls: true,
          concurrency: 1,
          warmupMs: 1_000,
          measureMs: 2_000,
        };
        const own = kind === "tunnelled" ? { ca: ground.authorityInBox } : {};
        const p50 = await alternateValues(
          rounds,
          async () => (await ground.inBox({ ...spec, ...own })).p50,
          async () => (await ground.outside({ ...spec, ca: ground.authority })).p50,
        );
        const row = { name: `${name}-${kind}`, unit: "ms", ours: p50.ours - p50.peer };
        return compare({ ...row, peer: allowedMs, peerName: "what may be added", goal: 1 });
      };
      return [await measure("tunnelled"), await measure("inspected")];
    }),
};
export default bench;
