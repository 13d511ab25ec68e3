// The list of 500 boxes under load: eight clients ask for it again and again while boxes are being stopped and started,
// against a bare Node server that answers the same bytes. The 99th percentile is the wait in a bad moment.
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { createClient, unixTransport } from "../src/client/index.ts";
import { withDaemon } from "../test/support/daemon.ts";
import { addBoxes, dropBoxes, memoryBox } from "../test/support/many-boxes.ts";
import { type Bench, compare, percentile, timeMs } from "./support/bench.ts";

const name = "list-p99";
const count = 500;
const clients = 8;
const rounds = 40;
const changing = 4;

/** Times of all requests, from clients that ask at the same time. */
async function load(socket: string): Promise<readonly number[]> {
  const times: number[] = [];
  const client = createClient(unixTransport(socket));
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let round = 0; round < rounds; round += 1) times.push(await timeMs(() => client.listBoxes()));
    }),
  );
  return times;
}

const bench: Bench = {
  name,
  about:
    "p99 of listing 500 boxes, eight at a time while boxes change, against a server that only sends bytes",
  run: () =>
    withDaemon(async (daemon) => {
      await addBoxes(daemon, count - 1);
      for (let id = 0; id < changing; id += 1) await memoryBox(daemon, `busy-${id}`);
      const answer = JSON.stringify({ boxes: await daemon.client.listBoxes() });
      const server = createServer((_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(answer);
      });
      const socket = join(daemon.scratch, "peer.sock");
      server.listen(socket);
      await once(server, "listening");
      const over = new AbortController();
      const busy = Array.from({ length: changing }, async (_, id) => {
        while (!over.signal.aborted) {
          await daemon.client.startBox(`busy-${id}`);
          await daemon.client.stopBox(`busy-${id}`);
        }
      });
      try {
        await load(daemon.socket);
        const ours = await load(daemon.socket);
        const peer = await load(socket);
        const at = (share: number) => ({ ours: percentile(ours, share), peer: percentile(peer, share) });
        const common = { unit: "ms", peerName: "a bare server" } as const;
        return [
          compare({ name: `${name}: p50`, ...common, ...at(0.5) }),
          compare({ name: `${name}: p99`, ...common, ...at(0.99) }),
        ];
      } finally {
        over.abort();
        await Promise.all(busy);
        server.close();
        await dropBoxes(daemon);
      }
    }),
};
export default bench;
