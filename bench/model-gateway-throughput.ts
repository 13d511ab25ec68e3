// MB/s of one streamed answer of 1 GB through gate and model gateway, metered on the way, against the 200 MB/s that it
// must reach; and against the same stream from the provider itself, which is only watched. Median of 5, in turns.
import { type Bench, alternateValues, compare } from "./support/bench.ts";
import { type ModelLoad, onModelGround } from "./support/model-ground.ts";

const name = "model-gateway-throughput";
const rounds = 5;
const neededRate = 200;
const load: ModelLoad = { kind: "download", bytes: 1_000_000_000 };

const bench: Bench = {
  name,
  about: "a streamed answer through the model gateway",
  run: () =>
    onModelGround(async ({ throughGateway, direct }) => {
      const rates = await alternateValues(
        rounds,
        () => throughGateway(load),
        () => direct(load),
      );
      const row = { unit: "MB/s", ours: rates.ours, higherIsBetter: true };
      return [
        compare({ ...row, name, peer: neededRate, peerName: "what is needed", goal: 1 }),
        compare({ ...row, name: `${name}-direct`, peer: rates.peer, peerName: "the provider itself" }),
      ];
    }),
};
export default bench;
