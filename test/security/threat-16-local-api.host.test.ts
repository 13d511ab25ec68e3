/**
 * Threat 16: a control API that every user of the machine can use. A user who does not own the socket reaches no route
 * at all; the routes come from the contract, so that a new one is tried the day it is there.
 */
import { expect, it } from "vitest";
import { routes } from "../../src/contract/api/routes.ts";
import { asUserArgv, isRoot, ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { emptyBox, type Ground, nodeInBox, onEachDaemon } from "./attack.ts";

const all = Object.values(routes).map(({ method, path }) => ({
  method,
  path: path.replace("{box}", "api-box").replace("{session}", "main").replace("{approval}", "1"),
}));
const harmless = all.filter(({ method }) => method === "GET");

/** Tries the routes on a socket and prints, for each, the status or the error. */
const client = (socket: string, tries: readonly { method: string; path: string }[]): string => `
  const http = require("node:http"), results = [];
  const once = ({ method, path }) => new Promise((done) => {
    const request = http.request({ socketPath: ${JSON.stringify(socket)}, method, path, headers: { "content-type": "application/json" } },
      (answer) => { done(answer.statusCode); answer.destroy(); });
    request.on("error", (error) => done(error.code)).end(method === "POST" ? "{}" : undefined); });
  (async () => { for (const one of ${JSON.stringify(tries)}) results.push(await once(one));
    process.stdout.write(JSON.stringify(results), () => process.exit(0)); })();`;

const cases = (ground: Ground): void => {
  it("answers its owner, and on no route anybody else", async (ctx) => {
    if (!isRoot) ctx.skip("only root can try as somebody else");
    const { daemon } = ground;
    const owner = ground.isRootDaemon ? [] : asUserArgv(ordinaryUser);
    const stranger = asUserArgv(ground.isRootDaemon ? ordinaryUser : { uid: 4_242, gid: 4_242 });
    const as = async (prefix: readonly string[], tries: typeof all) => {
      const { stdout, stderr } = await runProgram([
        ...prefix,
        process.execPath,
        "-e",
        client(daemon.socket, tries),
      ]);
      expect(stderr).toBe("");
      return JSON.parse(stdout) as (number | string)[];
    };
    // The control: the same requests of the owner reach a handler.
    const answers = await as(owner, harmless);
    for (const [index, answer] of answers.entries())
      expect(answer, harmless[index]?.path).toEqual(expect.any(Number));
    expect(all.length).toBeGreaterThan(30);
    expect(new Set(await as(stranger, all))).toEqual(new Set(["EACCES"]));
    expect((await daemon.client.getBox("api-box")).box.state.phase).toBe("running");
  });

  it("is not there in a box, and does not listen on any port", async () => {
    const { daemon } = ground;
    const inBox = await nodeInBox<(number | string)[]>(daemon, "api-box", client(daemon.socket, harmless));
    expect(new Set(inBox)).toEqual(new Set(["ENOENT"]));
    // No route either on the one socket a box has, nor through the proxy.
    const onLink = await nodeInBox<(number | string)[]>(
      daemon,
      "api-box",
      client("/run/agentbox/link.sock", harmless.slice(0, 3)),
    );
    for (const answer of onLink) expect(answer).not.toEqual(expect.any(Number));
    const inodes = await runProgram([
      "sh",
      "-c",
      `ls -l /proc/${daemon.pid}/fd | grep -o 'socket:\\[[0-9]*\\]' | grep -o '[0-9]*'`,
    ]);
    const { stdout } = await runProgram([
      "sh",
      "-c",
      `cat /proc/${daemon.pid}/net/tcp /proc/${daemon.pid}/net/tcp6`,
    ]);
    const listening = stdout.split("\n").filter((line) => / 0A /.test(line));
    const own = new Set(inodes.stdout.split("\n"));
    expect(listening.filter((line) => own.has(line.trim().split(/\s+/)[9] ?? ""))).toEqual([]);
  });
};

onEachDaemon("the local API", cases, { prepare: (daemon) => emptyBox(daemon, "api-box") });
