// 200 answers streamed at the same time for 15 seconds: the memory (VmRSS) of the process with gate and model gateway,
// median of its samples over seconds 3 to 7 against seconds 11 to 15. Flat is a growth of at most a tenth or of 10 MiB.
// And the tokens counted over all of them, which must be exactly those that the provider said it used.
import { type Bench, compare, median } from "./support/bench.ts";
import { onModelGround } from "./support/model-ground.ts";

const name = "model-gateway-streams";
const streams = 200;
const flatMib = 10;
const lengthMs = 15_000;
const windows = { early: [3_000, 7_000], late: [11_000, 15_000] } as const;

const bench: Bench = {
  name,
  about: "memory and metering of 200 concurrent streams",
  run: () =>
    onModelGround(async ({ throughGateway, counted }) => {
      // The first streams make what later ones use again.
      await throughGateway({ kind: "streams", count: streams, ms: 3_000 });
      const samples: { atMs: number; mib: number }[] = [];
      const startedMs = performance.now();
      const sampling = setInterval(() => {
        samples.push({ atMs: performance.now() - startedMs, mib: process.memoryUsage.rss() / 2 ** 20 });
      }, 100);
      await throughGateway({ kind: "streams", count: streams, ms: lengthMs });
      clearInterval(sampling);
      const within = ([from, to]: readonly [number, number]): number =>
        median(samples.filter(({ atMs }) => atMs >= from && atMs < to).map(({ mib }) => mib));
      const early = within(windows.early);
      const late = within(windows.late);
      const { metered, sent } = await counted();
      const error = Math.abs(metered.input - sent.input) + Math.abs(metered.output - sent.output);
      return [
        compare({
          name: `${name}-memory`,
          unit: "MiB",
          ours: late,
          peer: early,
          peerName: "seconds 3 to 7",
          goal: 1.1,
          alsoOk: late - early <= flatMib,
        }),
        compare({
          name: `${name}-metering-error`,
          unit: "tokens",
          ours: error,
          peer: sent.input + sent.output,
          peerName: "tokens used",
          goal: 0,
        }),
      ];
    }),
};
export default bench;
