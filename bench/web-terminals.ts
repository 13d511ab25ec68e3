// 50 terminals of one daemon open at once through its web port, each typed into in turn: the echo's median, against one
// terminal alone. A second result is the daemon's memory with them, against without.
import { WebSocket } from "ws";
import { withDaemon, type TestDaemon } from "../test/support/daemon.ts";
import { startBox, startProgram } from "../test/support/web-terminal.ts";
import { type Bench, compare, median } from "./support/bench.ts";
import { ownMib } from "./support/memory.ts";
import { whyNoWebBench } from "./support/web-session.ts";

const name = "web-terminals";
const terminals = 50;
const turns = 5;
const echoes = ["sh", "-c", "stty -icanon; exec sleep 100000"];
const limitMs = 15_000;
/** Twice the time of one is met, or no more than a person can feel. */
const mayTakeMs = 10;

interface SignedIn {
  readonly origin: string;
  readonly headers: Record<string, string>;
  readonly key: string;
}

async function signIn({ client }: TestDaemon): Promise<SignedIn> {
  const url = new URL((await client.openLink()).url);
  const code = new URLSearchParams(url.hash.slice(1)).get("link");
  const answer = await fetch(`${url.origin}/auth/claim`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url.origin },
    body: JSON.stringify({ code }),
  });
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  const { key } = (await answer.json()) as { key: string };
  return { origin: url.origin, headers: { cookie, origin: url.origin }, key };
}

/** One open terminal: sends a key and says how long its echo took. */
class OpenTerminal {
  readonly #socket: WebSocket;
  #heard = (): void => undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (_data, isBinary) => isBinary && this.#heard());
  }

  static async open({ origin, headers, key }: SignedIn, session: string): Promise<OpenTerminal> {
    const address = `${origin.replace("http", "ws")}/v1/boxes/many/sessions/${session}/attach`;
    const socket = new WebSocket(address, ["agentbox", `key.${key}`], { headers });
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.once("open", () => socket.send(JSON.stringify({ cols: 80, rows: 24 })));
      socket.once("message", () => resolve());
    });
    return new OpenTerminal(socket);
  }

  echoMs(): Promise<number> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("a terminal does not echo")), limitMs);
      const started = performance.now();
      this.#heard = () => {
        clearTimeout(timer);
        resolve(performance.now() - started);
      };
      this.#socket.send(Buffer.from("\u0001x"));
    });
  }

  close(): void {
    this.#socket.close();
  }
}

async function echoMedian(open: readonly OpenTerminal[], each: number): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < each; turn += 1) for (const terminal of open) times.push(await terminal.echoMs());
  return median(times);
}

const bench: Bench = {
  name,
  about: "50 open terminals on one daemon against one",
  needs: { bwrap: "bubblewrap" },
  async run() {
    const missing = await whyNoWebBench();
    if (missing) return [{ name, skipped: missing }];
    return withDaemon(async (daemon) => {
      await startBox(daemon, "many");
      const listener = await signIn(daemon);
      const sessions = Array.from({ length: terminals }, (_none, index) => `t-${index + 1}`);
      for (const session of sessions) await startProgram(daemon, "many", session, echoes);
      const first = await OpenTerminal.open(listener, sessions[0]!);
      const alone = await echoMedian([first], turns * terminals);
      const before = ownMib([daemon.pid]);
      const open = [first];
      for (const session of sessions.slice(1)) open.push(await OpenTerminal.open(listener, session));
      const together = await echoMedian(open, turns);
      const after = ownMib([daemon.pid]);
      for (const terminal of open) terminal.close();
      return [
        compare({
          name,
          unit: "ms",
          ours: together,
          peer: alone,
          peerName: "one terminal",
          goal: 2,
          alsoOk: together <= mayTakeMs,
        }),
        compare({
          name: `${name}-memory`,
          unit: "MiB",
          ours: after,
          peer: before,
          peerName: "one terminal",
          goal: 1.5,
        }),
      ];
    });
  },
};
export default bench;
