// New connections a second that are passed through unread (connect, a line there, a line back, close), 16 at a time, from
// a program in a box against the same program outside through Squid: by name, and through the box's proxy. Median of 5.
import { type Bench, alternateValues, compare } from "./support/bench.ts";
import { type LoadSpec, boxProxy, names, onGateGround, ports } from "./support/gate-ground.ts";
import { startSquid } from "./support/squid.ts";

const name = "gate-connections";
const rounds = 5;

const bench: Bench = {
  name,
  about: "new tunnelled connections a second out of a box against the same through Squid",
  needs: { bwrap: "bubblewrap", ip: "iproute2", squid: "squid" },
  run: () =>
    onGateGround(name, async (ground) => {
      const squid = await startSquid(ground);
      const spec: LoadSpec = {
        kind: "connections",
        host: names.tunnelled,
        port: ports.plain,
        concurrency: 16,
        warmupMs: 1_000,
        measureMs: 3_000,
      };
      const measure = async (kind: string, inBox: LoadSpec) => {
        const rates = await alternateValues(
          rounds,
          async () => (await ground.inBox(inBox)).rate,
          async () => (await ground.outside({ ...spec, proxy: squid })).rate,
        );
        const row = { name: `${name}-${kind}`, unit: "connections/s", ...rates, peerName: "squid" };
        return compare({ ...row, goal: 0.9, higherIsBetter: true });
      };
      return [await measure("by-name", spec), await measure("proxy", { ...spec, proxy: boxProxy })];
    }),
};
export default bench;
