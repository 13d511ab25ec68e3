// The time that gate and model gateway add to the first byte of an answer: the median of 2,000 requests on one connection through
// them, less the median of the same requests to the provider itself. Median of 5 such medians. The goal is 1 ms.
import { type Bench, alternateValues, compare } from "./support/bench.ts";
import { type ModelLoad, onModelGround } from "./support/model-ground.ts";

const name = "model-gateway-first-byte";
const rounds = 5;
const allowedMs = 1;
const load: ModelLoad = { kind: "first-byte", count: 2_000 };

const bench: Bench = {
  name,
  about: "what the model gateway adds to the first byte (p50)",
  run: () =>
    onModelGround(async ({ throughGateway, direct }) => {
      const p50 = await alternateValues(
        rounds,
        () => throughGateway(load),
        () => direct(load),
      );
      const row = { name, unit: "ms", ours: p50.ours - p50.peer };
      return [compare({ ...row, peer: allowedMs, peerName: "what may be added", goal: 1 })];
    }),
};
export default bench;
