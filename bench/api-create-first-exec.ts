// From "create a box" to "its first command has ended", through the API of a running daemon: 30 times alone, then
// 20 at once three times. The peer is the least that such a box costs: bubblewrap around `node -e 0`, because boxd is a
// Node program; alone against alone, and 20 at once against 20 at once. No goal: the numbers are watched.
import type { Client } from "../src/client/index.ts";
import { withDaemon } from "../test/support/daemon.ts";
import { whyNoBubblewrap } from "../test/support/host-facts.ts";
import { type Bench, type Result, compare, percentile, timeMs } from "./support/bench.ts";
import { mustRun } from "./support/agentbox.ts";

const name = "api-create-first-exec";
const peerName = "bwrap … node -e 0";
const crowd = 20;

/** Resolves with the exit code of a command in a box. */
async function exec(client: Client, box: string, argv: string[]): Promise<number> {
  const stream = await client.exec(box, { argv, stdin: false });
  return new Promise((resolve, reject) => {
    let code: number | undefined;
    stream.onText((text) => {
      const message = JSON.parse(text) as { type: string; code?: number | null; error?: { message: string } };
      if (message.type === "exit") code = message.code ?? -1;
      if (message.type === "error") reject(new Error(message.error?.message));
    });
    stream.onClose((error) =>
      code === undefined ? reject(error ?? new Error("The stream closed early.")) : resolve(code),
    );
  });
}

async function createAndExec(client: Client, box: string): Promise<void> {
  await client.createBox({ name: box, flags: { workspace: { mode: "empty" } } });
  const code = await exec(client, box, ["true"]);
  if (code !== 0) throw new Error(`The first command in ${box} ended with ${code}.`);
}

const bareBox = () => {
  const confine =
    "bwrap --unshare-all --die-with-parent --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp".split(" ");
  return mustRun([...confine, process.execPath, "-e", "0"]);
};

/** Times of each of `times` rounds of `width` at once. */
async function measure(times: number, width: number, one: (id: number) => Promise<void>): Promise<number[]> {
  const all: number[] = [];
  for (let round = 0; round < times; round += 1) {
    const ids = Array.from({ length: width }, (_, index) => round * width + index);
    all.push(...(await Promise.all(ids.map((id) => timeMs(() => one(id))))));
  }
  return all;
}

function report(kind: string, ours: readonly number[], peer: readonly number[]): Result[] {
  return ([50, 99] as const).map((share) =>
    compare({
      name: `${name}-${kind}-p${share}`,
      unit: "ms",
      ours: percentile(ours, share / 100),
      peer: percentile(peer, share / 100),
      peerName,
    }),
  );
}

const bench: Bench = {
  name,
  about: "API create until the first exec returned, alone and 20 at once",
  needs: { bwrap: "bubblewrap" },
  async run() {
    const missing = await whyNoBubblewrap();
    if (missing) return [{ name, skipped: missing }];
    return withDaemon(async ({ client }) => {
      const ours = async (prefix: string, id: number) => {
        await createAndExec(client, `${prefix}-${id}`);
      };
      const remove = async () => {
        for (const box of await client.listBoxes()) await client.removeBox(box.name, { force: true });
      };
      await ours("warm", 0);
      const alone = await measure(30, 1, async (id) => {
        await ours("alone", id);
      });
      await remove();
      const together: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        together.push(...(await measure(1, crowd, (id) => ours(`crowd-${round}`, id))));
        await remove();
      }
      const peer = async () => {
        await bareBox();
      };
      return [
        ...report("alone", alone, await measure(30, 1, peer)),
        ...report(`${crowd}-at-once`, together, await measure(3, crowd, peer)),
      ];
    });
  },
};
export default bench;
