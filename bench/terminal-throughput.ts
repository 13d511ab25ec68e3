// Bytes per second that a viewer receives from a terminal session in a box, through boxd, the link, the daemon and
// its WebSocket, against the same command on a plain pty read by node-pty outside any box: the pty's own limit,
// measured in the same run. Median of 5. The goal is met at 50 MB/s, or at the pty's limit less a tenth.
import { spawn as spawnPty } from "@lydell/node-pty";
import { deferred } from "../src/base/deferred.ts";
import type { Client } from "../src/client/index.ts";
import { withDaemon } from "../test/support/daemon.ts";
import { whyNoBubblewrap } from "../test/support/host-facts.ts";
import { type Bench, compare, median } from "./support/bench.ts";

const name = "terminal-throughput";
const megabytes = 64;
const rounds = 5;
const enoughMbPerSecond = 50;
const limitMs = 30_000;
/** Long lines of plain text, as a build log has them; the newline lets the terminal do its work too. */
const flood = ["sh", "-c", `yes "$(printf '%0100d' 7)" | head -c ${megabytes}000000; printf 'flood-%s' end`];
const endMark = Buffer.from("flood-end");

/** MB/s from the first byte until the mark that ends the flood. */
class Meter {
  #bytes = 0;
  #started = 0;
  #tail = Buffer.alloc(0);
  readonly #done = deferred<number>();
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  add(chunk: Uint8Array): void {
    if (this.#bytes === 0) this.#started = performance.now();
    this.#bytes += chunk.length;
    // The mark may be cut in two by the chunks.
    const seen = Buffer.concat([this.#tail, chunk]);
    this.#tail = seen.subarray(-endMark.length);
    if (seen.includes(endMark)) this.#done.resolve(this.#bytes / 1000 / (performance.now() - this.#started));
  }

  async rate(): Promise<number> {
    const timer = setTimeout(() => {
      this.#done.reject(new Error(`${this.#name}: no end in ${limitMs} ms; ${this.#bytes} bytes arrived.`));
    }, limitMs);
    try {
      return await this.#done.promise;
    } finally {
      clearTimeout(timer);
    }
  }
}

async function plainPty(): Promise<number> {
  const meter = new Meter("a plain pty");
  // It stays until it is ended from here, because node-pty may drop the tail of what a finished program wrote.
  const argv = ["-c", `"$@"; read -r end`, "sh", ...flood];
  const pty = spawnPty("sh", argv, { cols: 120, rows: 40, encoding: null });
  try {
    pty.onData((data) => meter.add(data as unknown as Uint8Array));
    return await meter.rate();
  } finally {
    pty.kill("SIGKILL");
  }
}

async function attached(client: Client, box: string, round: number): Promise<number> {
  const session = `flood-${round}`;
  const meter = new Meter("attach");
  // It waits for a line, so that the viewer is there before the first byte.
  const argv = ["sh", "-c", `stty -echo; read -r go; exec "$@"`, "sh", ...flood];
  await client.startSession(box, { session, spec: { argv, env: {}, terminal: true, cols: 120, rows: 40 } });
  const stream = await client.attach(box, session, { cols: 120, rows: 40 });
  stream.onData((chunk) => meter.add(chunk));
  stream.onText((text) => {
    if ((JSON.parse(text) as { type: string }).type === "started") stream.sendData(Buffer.from("\n"));
  });
  const rate = await meter.rate();
  stream.close();
  return rate;
}

const bench: Bench = {
  name,
  about: "terminal output through attach against a plain pty",
  needs: { bwrap: "bubblewrap" },
  async run() {
    const missing = await whyNoBubblewrap();
    if (missing) return [{ name, skipped: missing }];
    return withDaemon(async ({ client }) => {
      await client.createBox({ name: "flood", flags: { workspace: { mode: "empty" } } });
      const ours: number[] = [];
      const peer: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        ours.push(await attached(client, "flood", round));
        peer.push(await plainPty());
      }
      return [
        compare({
          name,
          unit: "MB/s",
          ours: median(ours),
          peer: median(peer),
          peerName: "a plain pty",
          goal: 0.9,
          higherIsBetter: true,
          alsoOk: median(ours) >= enoughMbPerSecond,
        }),
      ];
    });
  },
};
export default bench;
