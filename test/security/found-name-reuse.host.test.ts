/**
 * Found by attack: who may do what with a box was judged when the head of a request came, and the rest of it may take a
 * minute. A member sent the head about a box of their own, removed the box, and sent the rest when another user's box had
 * the name.
 */
import { type ClientRequest, request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type TestTeam, type Visitor, startTeam } from "../support/team.ts";
import { emptyBox, shellInBox } from "./attack.ts";

const name = "name-twice";
const body = JSON.stringify({ name: "mine" });

let team: TestTeam;
let bob: Visitor;
beforeAll(async () => {
  team = await startTeam();
  team.provider.members.set("bob", { name: "Bob" });
  bob = await team.person("bob");
}, 120_000);
afterAll(() => team[Symbol.asyncDispose](), 120_000);

const makeOwn = async (): Promise<void> => {
  const flags = { workspace: { mode: "empty" } };
  const { status, body: said } = await bob.ask("POST", "/v1/boxes", { name, flags, start: false });
  expect(status, JSON.stringify(said)).toBe(200);
};
const remove = () => team.daemon.client.removeBox(name, { force: true });
/** Bob's box goes, and one of the owner's has its name. */
async function replace(): Promise<void> {
  expect((await bob.ask("DELETE", `/v1/boxes/${name}?force=true`)).status).toBe(200);
  await emptyBox(team.daemon, name);
  expect((await bob.ask("GET", `/v1/boxes/${name}`)).status).toBe(404);
}

/** The head and half of the body; resolves when the daemon has it. */
function begin(path: string): Promise<{ request: ClientRequest; status: Promise<number> }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${bob.origin}/v1/boxes/${name}${path}`, {
      method: "POST",
      headers: {
        ...bob.headers({ "content-type": "application/json" }),
        "content-length": body.length,
        expect: "100-continue",
      },
      agent: false,
    });
    const status = new Promise<number>((answered) =>
      request.on("response", (answer) => {
        answer.resume();
        answered(answer.statusCode ?? 0);
      }),
    );
    request.on("error", reject);
    request.on("continue", () => {
      request.write(body.slice(0, 5));
      resolve({ request, status });
    });
    request.flushHeaders();
  });
}

async function openExec(): Promise<WebSocket> {
  const { origin, key } = bob;
  const socket = new WebSocket(
    `${origin.replace("http", "ws")}/v1/boxes/${name}/exec`,
    ["agentbox", `key.${key}`],
    { headers: bob.headers() },
  );
  await new Promise<void>((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return socket;
}
/** All that it answers. */
function run(socket: WebSocket, script: string): Promise<string> {
  let text = "";
  const ended = new Promise<string>((resolve) =>
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      text += data.toString();
      if (isBinary || !/"type":"(?:exit|error)"/.test(data.toString())) return;
      socket.terminate();
      resolve(text);
    }),
  );
  socket.send(JSON.stringify({ argv: ["sh", "-c", script], stdin: false }));
  return ended;
}

describe("a box that got the name of one that is gone", () => {
  it("is not changed by a request that was begun about the other", async () => {
    await makeOwn();
    const own = await begin("/checkpoints");
    own.request.end(body.slice(5));
    expect(await own.status, "the control: on their own box it goes on").not.toBe(404);

    const late = await begin("/checkpoints");
    await replace();
    late.request.end(body.slice(5));
    expect(await late.status).toBe(404);
    expect(await team.daemon.client.listCheckpoints(name)).toEqual([]);
    await remove();
  }, 120_000);

  it("runs no command of a stream that was opened to the other", async () => {
    await makeOwn();
    expect((await bob.ask("POST", `/v1/boxes/${name}/start`, {})).status).toBe(200);
    expect(await run(await openExec(), "echo in-$((40 + 2))"), "the control").toContain("in-42");

    const late = await openExec();
    await replace();
    const said = await run(late, "touch /workspace/from-bob; echo in-$((40 + 2))");
    expect(said).toContain("box.not_found");
    expect(said).not.toContain("in-42");
    expect((await shellInBox(team.daemon, name, "ls /workspace")).stdout).toBe("");
    await remove();
  }, 120_000);
});
