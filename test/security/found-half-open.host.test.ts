/**
 * A user of the machine opens connections to the dashboard's port and never asks anything: at 1,024 of them all others
 * were locked out. Control: without them the dashboard answers, and a connection that is admitted lives through the
 * attack. Denial: while a thousand are opened, and again as soon as they are closed, new clients are answered; the
 * daemon's log says so.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { asUserArgv, isRoot, ordinaryUser } from "../support/host-facts.ts";

/** Opens them, says how many it has opened so far, and opens another for each that is closed. */
const attack = `
const net = require("node:net");
const [port, count] = process.argv.slice(1).map(Number);
let opened = 0;
const open = () => {
  const socket = net.connect(port, "127.0.0.1");
  socket.on("connect", () => { opened += 1; if (opened % 100 === 0) console.log(opened); socket.write("GET / HTTP/1.1\\r\\nhost: x\\r\\n"); });
  socket.on("error", () => undefined);
  socket.on("close", () => setTimeout(open, 5));
};
for (let left = count; left > 0; left -= 1) open();
`;

const attackers = 1_100;
const someoneElse = { uid: 65_534, gid: 65_534 };

let daemon: TestDaemon;
let port: number;
let attacker: ChildProcess | undefined;
beforeAll(async () => {
  daemon = await startDaemon(isRoot ? { user: ordinaryUser } : {});
  const { url } = await daemon.json<{ url: string }>(["open", "--print"]);
  port = Number(new URL(url).port);
});
afterAll(async () => {
  attacker?.kill("SIGKILL");
  await daemon[Symbol.asyncDispose]();
});

/** A request on a connection of its own. */
async function ask(path: string): Promise<number | string> {
  const sent = request({ host: "127.0.0.1", port, path, agent: false }).end();
  try {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  } catch (error) {
    return String(error);
  }
}

it("half-open connections of another user keep nobody out", async () => {
  expect(await ask("/")).toBe(200);

  const argv = [process.execPath, "-e", attack, String(port), String(attackers)];
  const [file, ...args] = [...(isRoot ? asUserArgv(someoneElse) : []), ...argv];
  attacker = spawn(file!, args, { stdio: ["ignore", "pipe", "inherit"] });
  let opened = 0;
  attacker.stdout!.on("data", (chunk: Buffer) => {
    opened = Number(chunk.toString().trim().split("\n").at(-1));
  });
  await waitFor("they are open", () => opened >= 1_000, 30_000);

  const answers: (number | string)[] = [];
  for (let index = 0; index < 50; index += 1) answers.push(await ask(index % 2 === 0 ? "/" : "/v1/boxes"));
  // The page for everyone, and the API only with a credential.
  expect(answers.filter((answer) => answer !== 200 && answer !== 401)).toEqual([]);
  expect(attacker.exitCode).toBeNull();
  expect((await daemon.client.listBoxes()).length).toBe(0);
  await waitFor("it is noted", () => daemon.log().includes("had shown no right to it"));
});
