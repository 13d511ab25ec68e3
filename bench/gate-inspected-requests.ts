// Requests a second that are read and judged by a rule with a path (small GET, 16 connections that stay open), from a
// program in a box against the same program outside through mitmproxy, which reads them too. Median of 3, in turns.
import { type Bench, alternateValues, compare } from "./support/bench.ts";
import { type LoadSpec, names, onGateGround, ports } from "./support/gate-ground.ts";
import { startMitmproxy } from "./support/mitmproxy.ts";

const name = "gate-inspected-requests";
const rounds = 3;

const bench: Bench = {
  name,
  about: "inspected HTTPS requests a second out of a box against mitmproxy",
  needs: { bwrap: "bubblewrap", ip: "iproute2", mitmdump: "mitmproxy" },
  run: () =>
    onGateGround(name, async (ground) => {
      const peer = await startMitmproxy(ground);
      const spec: LoadSpec = {
        kind: "requests",
        host: names.inspected,
        port: ports.https,
        tls: true,
        concurrency: 16,
        warmupMs: 2_000,
        measureMs: 5_000,
      };
      const rates = await alternateValues(
        rounds,
        async () => (await ground.inBox(spec)).rate,
        async () => (await ground.outside({ ...spec, ...peer })).rate,
      );
      const row = { name, unit: "requests/s", ...rates, peerName: "mitmproxy" };
      return [compare({ ...row, goal: 5, higherIsBetter: true })];
    }),
};
export default bench;
