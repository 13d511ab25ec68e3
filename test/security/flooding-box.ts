/**
 * Programs that run in a box and speak on its link in boxd's place, as hostile as they can. They stop boxd, wait until the
 * host takes it for gone, and dial in as the box's supervisor.
 */
import { boxdPid } from "./attack.ts";

const prelude = `
const net = require("node:net");
const linkPath = "/run/agentbox/link.sock";
const frame = (kind, payload) => { const head = Buffer.alloc(5); head.writeUInt32BE(payload.length + 1); head[4] = kind; return Buffer.concat([head, payload]); };
const json = (value) => frame(0, Buffer.from(JSON.stringify(value)));
const session = (id) => ({ id, argv: ["x"], terminal: false, state: "running", exitCode: null, signal: null, startedAtMs: 1, viewers: 0, outputBytes: 1 << 20 });
const health = (names) => json({ type: "health", health: { uptimeMs: 1, idleMs: 0, rssBytes: 1, processes: 1, isSealed: true, sessions: names.map(session), services: [] } });
const dial = () => { const socket = net.connect(linkPath); socket.on("error", () => undefined); return socket; };
/** Writes the same bytes for ever, as fast as they are taken. */
const pour = (socket, make) => { const more = () => { while (!socket.destroyed && socket.write(make())); }; socket.on("drain", more); more(); };
/** Calls back with the control connection once the host has taken it. */
const takeOver = (control) => {
  const socket = dial();
  socket.write(json({ role: "control", protocol: 1, boot: "hostile", version: "1" }));
  socket.once("data", (answer) => { if (answer.includes("welcome")) { console.log("welcome"); control(socket); } });
  socket.on("close", () => setTimeout(() => takeOver(control), 200));
};
/** Dials again and again, so many at a time. */
const knock = (atOnce, bytes) => { const one = () => { const socket = dial(); socket.on("connect", () => socket.write(bytes)).on("close", () => setTimeout(one, 1)).resume(); }; for (let n = 0; n < atOnce; n += 1) one(); };
`;

/** The floods of a box; each goes on until the box ends. */
export const floods = {
  /** Health messages with new session names, and what the host says is not read. */
  health: `let n = 0; takeOver((control) => { control.pause(); pour(control, () => health(Array.from({ length: 50 }, () => "invented-" + n++))); });`,
  /** Messages as large as they can be. */
  large: `const word = "x".repeat(500); const big = json({ type: "health", health: { uptimeMs: 1, idleMs: 0, rssBytes: 1, processes: 1, sessions: Array.from({ length: 30 }, (_, n) => ({ ...session("s" + n), argv: Array.from({ length: 60 }, () => word) })), services: [] } });
    takeOver((control) => pour(control, () => big));`,
  /** Ends and changes, each of which could become an event. */
  events: `let n = 0; takeOver((control) => pour(control, () => Buffer.concat([json({ type: "session.ended", session: { ...session("e" + n++), state: "ended", exitCode: 0 } }), json({ type: "response", id: n, result: null })])));`,
  /** Output of `ended`, a session that the host has started and recorded to its end, in pieces of one byte. */
  output: `const bytes = Buffer.concat(Array.from({ length: 5000 }, () => frame(1, Buffer.from("x"))));
    takeOver((control) => { setInterval(() => control.write(health(["ended"])), 1000); control.write(health(["ended"]));
      control.on("data", (chunk) => { for (const [, id] of chunk.toString("latin1").matchAll(/"type":"open","id":"([^"]+)"/g)) { const stream = dial(); stream.write(json({ role: "stream", protocol: 1, id })); pour(stream, () => bytes); } }); });`,
  /** Sessions that were never started, beside `ended`, which the host has, with output for each that is asked for. */
  sessions: `let n = 0; const bytes = frame(1, Buffer.alloc(65536, "x"));
    takeOver((control) => { pour(control, () => health(["ended", ...Array.from({ length: 50 }, () => "invented-" + n++ % 2000)]));
      control.on("data", (chunk) => { for (const [, id] of chunk.toString("latin1").matchAll(/"type":"open","id":"([^"]+)"/g)) { const stream = dial(); stream.write(json({ role: "stream", protocol: 1, id })); pour(stream, () => bytes); } }); });`,
  /** Connections that say nonsense. */
  nonsense: `knock(64, json({ role: "admin", protocol: 1 }));`,
  /** Connections that say nothing. */
  silence: `knock(300, "");`,
  /** Ways out, one after the other, to where the box may not go. */
  gate: `knock(64, Buffer.concat([json({ role: "gate", protocol: 1, via: "tcp", host: "denied.test", port: 80 }), Buffer.from("GET / HTTP/1.1\\r\\nHost: denied.test\\r\\n\\r\\n")]));`,
  /** Requests to the proxy on few connections, many at once on each. */
  requests: `const batch = Buffer.from("GET http://denied.test/ HTTP/1.1\\r\\nHost: denied.test\\r\\n\\r\\n".repeat(500));
    const one = () => { const socket = dial(); socket.write(json({ role: "gate", protocol: 1, via: "proxy" })); socket.resume(); pour(socket, () => batch); socket.on("close", () => setTimeout(one, 1)); };
    for (let n = 0; n < 16; n += 1) one();`,
  /** Handshakes with the gate as a server of whose requests it reads each, under another name each time. */
  handshakes: `const tls = require("node:tls"); let n = 0;
    const one = () => { const servername = "n" + n++ + ".inspected.example"; const socket = dial(); socket.write(json({ role: "gate", protocol: 1, via: "tcp", host: servername, port: 443 }));
      const secure = tls.connect({ socket, servername, rejectUnauthorized: false }); secure.on("secureConnect", () => secure.destroy()).on("error", () => undefined); socket.on("close", () => setTimeout(one, 1)); };
    for (let left = 0; left < 64; left += 1) one();`,
} as const;

export type Flood = keyof typeof floods;

const needsControl: ReadonlySet<Flood> = new Set<Flood>(["health", "large", "events", "output", "sessions"]);

export const takesOver = (flood: Flood): boolean => needsControl.has(flood);

/** In the command line of each of them, so that the host can find its own. */
export const floodMark = (owner: string): string => `// flood of ${owner}.`;

/** For a session of the box. */
export const floodArgv = (flood: Flood, owner = ""): string[] => [
  "sh",
  "-c",
  `${takesOver(flood) ? `kill -STOP ${boxdPid};` : ""} exec node -e "$1"`,
  "flood",
  `${prelude}${floods[flood]}\n${floodMark(owner)}`,
];
