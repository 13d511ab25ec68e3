// The fleet view in use with 500 boxes against the same with 10, in turns: from the key to the picture
// after it, which is two frames at least. A wait under 100 ms is not felt.
import { launchBrowser, noBrowser } from "../test/support/browser.ts";
import { withDaemon } from "../test/support/daemon.ts";
import { type Interaction, interact, openFleet } from "../test/web/fleet-interactions.ts";
import { addBoxes, dropBoxes } from "../test/support/many-boxes.ts";
import { type Bench, compare, percentile } from "./support/bench.ts";

const name = "web-fleet";
const [many, few] = [500, 10];
const rounds = 40;
const goalMs = 100;

const bench: Bench = {
  name,
  about: "moving, searching, grouping and selecting in the fleet view with 500 boxes against 10",
  run: async () => {
    if (noBrowser !== undefined) return [{ name, skipped: noBrowser }];
    return withDaemon((large) =>
      withDaemon(async (small) => {
        await addBoxes(large, many - 1);
        await addBoxes(small, few - 1);
        await using browser = await launchBrowser();
        await using ours = await openFleet(browser, large, "table", many);
        await using peer = await openFleet(browser, small, "table", few);
        const times = { ours: [] as number[], peer: [] as number[] };
        for (let round = 0; round < rounds; round += 1)
          for (const what of ["move", "search", "group", "select"] satisfies Interaction[]) {
            times.ours.push(await interact(ours.page, what));
            times.peer.push(await interact(peer.page, what));
          }
        await dropBoxes(large);
        const row = (share: number, label: string) => {
          const [own, other] = [percentile(times.ours, share), percentile(times.peer, share)];
          const isQuick = own < goalMs;
          return compare({
            name: `${name}: ${label}`,
            unit: "ms",
            ours: own,
            peer: other,
            peerName: `${few} boxes`,
            goal: 1.5,
            alsoOk: isQuick,
          });
        };
        return [row(0.5, "p50"), row(0.99, "p99")];
      }),
    );
  },
};
export default bench;
