/**
 * A port that `agentbox port-forward` opens on loopback could be used by every user of the machine, who could so speak with
 * what a box serves, and use up the box's connections. Control: programs of the person who opened it are answered, as many
 * as there is room for. Denial: programs of another user are cut off before a byte of theirs reaches the box, no matter how
 * many, and the person is told once.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { asUserArgv, isRoot } from "../support/host-facts.ts";
import { whyNoBoxes } from "../support/test-runtime.ts";
import { emptyBox, eventsOf } from "./attack.ts";

const someoneElse = { uid: 65_534, gid: 65_534 };
const started: ChildProcess[] = [];
let daemon: TestDaemon;
let missing: string | undefined;
beforeAll(async () => {
  missing = isRoot ? await whyNoBoxes() : "only root can be two users";
  if (missing === undefined) daemon = await startDaemon();
});
afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await daemon?.[Symbol.asyncDispose]();
});

interface Running {
  readonly out: () => string;
  readonly shows: (text: string) => Promise<void>;
}

function follow(file: string, args: readonly string[], env?: NodeJS.ProcessEnv): Running {
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], ...(env ? { env } : {}) });
  started.push(child);
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (out += chunk.toString()));
  return {
    out: () => out,
    shows: async (text) => void (await waitFor(`it shows ${text}`, () => out.includes(text), 30_000)),
  };
}

function followCli(args: readonly string[]): Running {
  const { argv, env } = daemon.command(args);
  return follow(argv[0]!, argv.slice(1), env);
}

async function talk(port: number, text: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => undefined);
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk.toString()));
  socket.write(text);
  await waitFor("it answers", () => heard !== "" || socket.destroyed, 20_000);
  socket.destroy();
  return heard;
}

/** Opens connections without end, each of which says a word, and counts the answers. */
const flood = `
const net = require("node:net");
const port = Number(process.argv[1]);
let answers = 0, closed = 0;
const open = () => {
  const socket = net.connect(port, "127.0.0.1", () => socket.write("stolen"));
  socket.on("data", () => { answers += 1; });
  socket.on("error", () => undefined);
  socket.on("close", () => { closed += 1; if (closed % 50 === 0) console.log("closed " + closed + " answers " + answers); setTimeout(open, 5); });
};
for (let left = 300; left > 0; left -= 1) open();
`;

it("only programs of the person who opened a forwarded port reach the box over it", async (ctx) => {
  ctx.skip(missing !== undefined, missing);
  await emptyBox(daemon, "served");
  const echo = `const said = []; require("node:net").createServer((socket) => socket.on("data", (chunk) => { console.log("heard " + chunk); socket.write("<" + chunk + ">"); }).on("error", () => undefined)).listen(5432, "127.0.0.1", () => console.log("ready"))`;
  const server = followCli(["exec", "served", "--", "node", "-e", echo]);
  await server.shows("ready");
  const forward = followCli(["port-forward", "served", "5432:0", "--json"]);
  await forward.shows('"local":');
  const { local } = JSON.parse(forward.out().split("\n")[0]!) as { local: number };
  // The control: the person's own programs, and several at once.
  expect(await Promise.all(["a", "b", "c"].map((text) => talk(local, text)))).toEqual(["<a>", "<b>", "<c>"]);
  const opened = (await eventsOf(daemon, "port.connected", "served")).length;
  expect(opened).toBe(3);

  const [file, ...args] = [...asUserArgv(someoneElse), process.execPath, "-e", flood, String(local)];
  const attacker = follow(file, args);
  await attacker.shows("closed 500");
  expect(attacker.out()).not.toMatch(/answers [1-9]/);
  expect(await talk(local, "mine")).toBe("<mine>");
  expect(server.out()).not.toContain("stolen");
  expect((await eventsOf(daemon, "port.connected", "served")).length).toBe(opened + 1);
  // Said once, in words.
  expect(forward.out().match(/another user/g)).toHaveLength(1);
});
