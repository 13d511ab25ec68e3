/**
 * Every way from a program in a box to the gate, as code that runs in the box: a plain connection to a name, the link's
 * socket itself, and the proxy's two forms. Each sends the same bytes and tells what came back.
 */
import type { TestDaemon } from "../support/daemon.ts";
import { script } from "../support/network-ground.ts";

export const ways = ["plain", "link", "connect", "absolute"] as const;
export type ArrivalKind = (typeof ways)[number];

export interface Attempt {
  readonly way: ArrivalKind;
  readonly host: string;
  readonly port: number;
  /** The text to send once there is a connection; without it, a GET for /x with this host. */
  readonly bytes?: string;
  /** Speak TLS first, with this name in the hello (an empty one for none). */
  readonly tlsName?: string;
  readonly waitMs?: number;
}

export interface Outcome {
  /** Status of the proxy's own answer to CONNECT. */
  readonly connect?: number;
  /** Everything that came back, or the error's code. */
  readonly said: string;
  /** How it ended: `closed` or `open` (still open when time was up). */
  readonly end: string;
}

const program = (attempts: readonly Attempt[]): string => `
  const net = require("node:net"), tls = require("node:tls");
  const frame = (value) => { const text = Buffer.from(JSON.stringify(value)), head = Buffer.alloc(5);
    head.writeUInt32BE(text.length + 1); return Buffer.concat([head, text]); };
  const opened = (socket) => new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  const until = (socket, mark) => new Promise((resolve, reject) => {
    let text = ""; const take = (chunk) => { text += chunk.toString("latin1");
      if (text.includes(mark)) { socket.off("data", take); resolve(text); } };
    socket.on("data", take).once("close", () => resolve(text)).once("error", reject); });
  const dial = {
    async plain({ host, port }) { const socket = net.connect({ host, port }); await opened(socket); return { socket }; },
    async link({ host, port }) { const socket = net.connect("/run/agentbox/link.sock"); await opened(socket);
      socket.write(frame({ role: "gate", protocol: 1, via: "tcp", host, port })); return { socket }; },
    async connect({ host, port }) { const socket = net.connect(3128, "127.0.0.1"); await opened(socket);
      socket.write("CONNECT " + host + ":" + port + " HTTP/1.1\\r\\nHost: " + host + ":" + port + "\\r\\n\\r\\n", "latin1");
      const head = await until(socket, "\\r\\n\\r\\n"); return { socket, head, connect: Number(head.split(" ")[1] ?? 0) }; },
    async absolute() { const socket = net.connect(3128, "127.0.0.1"); await opened(socket); return { socket }; },
  };
  async function attempt(one) {
    let connect;
    try {
      const dialed = await dial[one.way](one);
      connect = dialed.connect;
      if (connect !== undefined && connect !== 200) { dialed.socket.destroy(); return { connect, said: dialed.head, end: "closed" }; }
      let socket = dialed.socket;
      if (one.tlsName !== undefined) {
        socket = tls.connect({ socket, servername: one.tlsName, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] });
        await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject).once("close", () => reject({ code: "CLOSED" })));
      }
      const parts = [];
      const plain = "GET /x HTTP/1.1\\r\\nHost: " + one.host + "\\r\\nConnection: close\\r\\n\\r\\n";
      const bytes = one.bytes ?? (one.way === "absolute" ? plain.replace("/x", "http://" + one.host + ":" + one.port + "/x") : plain);
      const end = new Promise((resolve) => {
        socket.on("data", (chunk) => parts.push(chunk)).on("close", () => resolve("closed")).on("error", () => resolve("closed"));
        setTimeout(() => resolve("open"), one.waitMs ?? 4000).unref();
      });
      socket.write(Buffer.from(bytes, "latin1"));
      const how = await end;
      socket.destroy();
      return { connect, said: Buffer.concat(parts).toString("latin1"), end: how };
    } catch (error) { return { connect, said: String(error.code ?? error.message ?? error), end: "closed" }; }
  }
  (async () => {
    const attempts = ${JSON.stringify(attempts)}, outcomes = [];
    for (let n = 0; n < attempts.length; n += 8) outcomes.push(...(await Promise.all(attempts.slice(n, n + 8).map(attempt))));
    process.stdout.write(JSON.stringify(outcomes), () => process.exit(0));
  })();`;

/** In the order of the attempts; a few at a time. */
export const tryInBox = (daemon: TestDaemon, box: string, attempts: readonly Attempt[]): Promise<Outcome[]> =>
  script<Outcome[]>(daemon, box, program(attempts));

export async function tryOnce(daemon: TestDaemon, box: string, attempt: Attempt): Promise<Outcome> {
  const [outcome] = await tryInBox(daemon, box, [attempt]);
  if (outcome === undefined) throw new Error("The box did not answer.");
  return outcome;
}

export const hasReached = (outcome: Outcome): boolean => outcome.said.includes("the internet");
