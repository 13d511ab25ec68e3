// MB/s of one download that is passed through unread, from a program in a box (program, boxd, link, gate, server) against
// the same program outside through Squid (program, Squid, server): over TLS as programs download, and over plain TCP,
// where nothing but the way itself costs anything. Median of 5, in turns.
import { omitUndefined } from "../src/base/omit-undefined.ts";
import { type Bench, alternateValues, compare } from "./support/bench.ts";
import { type LoadSpec, boxProxy, names, onGateGround, ports } from "./support/gate-ground.ts";
import { startSquid } from "./support/squid.ts";

const name = "gate-tunnel-throughput";
const rounds = 5;
const bytes = 1_000_000_000;

const bench: Bench = {
  name,
  about: "a tunnelled download out of a box against the same through Squid",
  needs: { bwrap: "bubblewrap", ip: "iproute2", squid: "squid" },
  run: () =>
    onGateGround(name, async (ground) => {
      const squid = await startSquid(ground);
      const plain: LoadSpec = { kind: "download", host: names.tunnelled, port: ports.plain, bytes };
      const secure: LoadSpec = { ...plain, port: ports.https, tls: true };
      const measure = async (kind: string, spec: LoadSpec, proxy?: string) => {
        const inBox = { ...spec, ca: ground.authorityInBox, ...omitUndefined({ proxy }) };
        const rates = await alternateValues(
          rounds,
          async () => (await ground.inBox(inBox)).rate,
          async () => (await ground.outside({ ...spec, ca: ground.authority, proxy: squid })).rate,
        );
        const row = { name: `${name}-${kind}`, unit: "MB/s", ...rates, peerName: "squid" };
        return compare({ ...row, goal: 0.9, higherIsBetter: true });
      };
      return [
        await measure("tls", secure),
        await measure("tls-proxy", secure, boxProxy),
        await measure("tcp", plain),
      ];
    }),
};
export default bench;
