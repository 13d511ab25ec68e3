import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { startScriptedModel } from "../../../test/model/scripted-model.ts";
import type { Script } from "../../../test/model/script.ts";
import { waitFor } from "../../base/wait-for.ts";
import { placeholderKey } from "../../contract/model/api.ts";
import type { TokenUsage } from "../../contract/model/usage.ts";
import { type Ask, type GatewayFixture, openGatewayFixture, realKey } from "./model-gateway.fixture.ts";

const usage = { input: 1_234, output: 567, cached: 89, cacheWrite: 45, reasoning: 67 };
const answer: Script = [{ text: 'Well, "usage" is a word.', thinking: "Hm.", usage }];
const calling: Script = [{ calls: [{ tool: "look", arguments: { usage: { input_tokens: 9 } } }], usage }];

const messages = [{ role: "user", content: "Say something." }];
const tool = { name: "look", description: "d", input_schema: { type: "object" } };

const all = { input: 1_368, output: 567, cached: 89, cacheWrite: 45, reasoning: 67 };
const withoutWrites: TokenUsage = { ...all, cacheWrite: 0 };

interface Case {
  readonly title: string;
  readonly ask: (stream: boolean) => Ask;
  readonly expected: TokenUsage;
}

const cases: readonly Case[] = [
  {
    title: "Anthropic Messages",
    ask: (stream) => ({
      path: "/anthropic/v1/messages?beta=true",
      body: { model: "m", max_tokens: 900, messages, stream, tools: [tool] },
    }),
    expected: { ...all, reasoning: 0 },
  },
  {
    title: "OpenAI Responses",
    ask: (stream) => ({
      path: "/openai/v1/responses",
      body: { model: "m", input: "Say something.", stream },
    }),
    expected: all,
  },
  {
    title: "OpenAI Chat Completions",
    ask: (stream) => ({ path: "/openai/v1/chat/completions", body: { model: "m", messages, stream } }),
    expected: withoutWrites,
  },
  {
    title: "Gemini",
    ask: (stream) => ({
      path: `/gemini/v1beta/models/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      body: { contents: [{ role: "user", parts: [{ text: "Say something." }] }] },
    }),
    expected: withoutWrites,
  },
];

async function openWorld(script: Script) {
  const model = await startScriptedModel({ script });
  const fixture = await openGatewayFixture(model.url);
  return {
    model,
    fixture,
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

describe.each(cases)("$title", ({ ask, expected }) => {
  it.each([true, false])("is metered exactly (stream: %s)", async (stream) => {
    await using world = await openWorld(answer);
    const reply = await world.fixture.ask(ask(stream));
    expect(reply).toMatchObject({ status: 200, isWhole: true });
    expect(reply.text).toContain("word.");
    expect(world.fixture.settled).toMatchObject([
      {
        ticket: "t1",
        request: { model: "m", box: { name: "amber" } },
        outcome: { status: 200, hasAnswer: true, stop: "end", error: undefined },
      },
    ]);
    const { outcome } = world.fixture.settled[0]!;
    expect(outcome.usage).toEqual(expected);
    expect(outcome.durationMs).toBeGreaterThanOrEqual(outcome.firstByteMs!);
    // The same, from what the server says it really sent.
    const sent = world.model.usageTotals.all;
    expect(outcome.usage!.input).toBe(sent.input + sent.cached + sent.cacheWrite);
    expect(outcome.usage!.output).toBe(sent.output);
    expect(world.fixture.progressed).toBeGreaterThan(0);
  });

  it.each([true, false])("says that a tool is called (stream: %s)", async (stream) => {
    await using world = await openWorld(calling);
    await world.fixture.ask(ask(stream));
    expect(world.fixture.settled).toMatchObject([{ outcome: { stop: "tool", usage: expected } }]);
  });

  it("passes a vendor's errors with their retry-after, and counts nothing", async () => {
    for (const status of [429, 500, 529]) {
      await using world = await openWorld([{ fault: { kind: "error", status, retryAfterSeconds: 7 } }]);
      const reply = await world.fixture.ask(ask(true));
      expect(reply.status).toBe(status);
      expect(reply.headers["retry-after"]).toBe("7");
      expect(world.fixture.settled).toMatchObject([
        { outcome: { status, hasAnswer: false, usage: undefined } },
      ]);
    }
  });

  it("breaks off where the provider broke off, and counts what was said until then", async () => {
    await using world = await openWorld([{ text: "x".repeat(2_000), usage, fault: { kind: "disconnect" } }]);
    const reply = await world.fixture.ask(ask(true));
    expect(reply.isWhole).toBe(false);
    const settled = await waitFor("the settlement", () => world.fixture.settled[0]);
    expect(settled.outcome).toMatchObject({ hasAnswer: true, error: "model.unavailable" });
    const sent = world.model.usageTotals.all;
    const counted = settled.outcome.usage ?? { input: 0, output: 0 };
    expect(counted.input).toBe(sent.input + sent.cached + sent.cacheWrite);
    expect(counted.output).toBe(sent.output);
  });

  it("passes malformed events on", async () => {
    await using world = await openWorld([{ text: "x".repeat(2_000), usage, fault: { kind: "malformed" } }]);
    const reply = await world.fixture.ask(ask(true));
    expect(reply.text).toContain("xxxx");
    const { outcome } = await waitFor("the settlement", () => world.fixture.settled[0]);
    expect(outcome.hasAnswer).toBe(true);
  });
});

describe("Responses over a WebSocket", () => {
  const open = (fixture: GatewayFixture) =>
    new WebSocket(`ws://127.0.0.1:${fixture.port}/openai/v1/responses`, {
      headers: { authorization: `Bearer ${placeholderKey}` },
    });
  const create = (more: object = {}) =>
    JSON.stringify({ type: "response.create", model: "m", input: "Hi.", ...more });

  /** The types of what comes until a last event. */
  async function turn(socket: WebSocket, frame: string): Promise<Record<string, unknown>[]> {
    const events: Record<string, unknown>[] = [];
    const done = new Promise<void>((resolve) => {
      const take = (data: Buffer): void => {
        const event = JSON.parse(data.toString()) as Record<string, unknown>;
        events.push(event);
        if (!["response.completed", "error"].includes(String(event["type"]))) return;
        socket.off("message", take);
        resolve();
      };
      socket.on("message", take);
      socket.once("close", () => resolve());
    });
    socket.send(frame);
    await done;
    return events;
  }

  it("sends no turn that would make the vendor fetch something, and the next one all the same", async () => {
    await using world = await openWorld(answer);
    const socket = open(world.fixture);
    await new Promise((resolve) => socket.once("open", resolve));
    const image_url = "https://attacker.test/?secret=1";
    const input = [
      { type: "function_call_output", call_id: "1", output: [{ type: "input_image", image_url }] },
    ];
    for (const extra of [{ input }, { prompt: { id: "p" } }, { tools: [{ type: "mcp" }] }]) {
      const refused = await turn(socket, create(extra));
      expect(refused).toMatchObject([{ type: "error", status: 400, error: { code: "model.bad_request" } }]);
    }
    expect(world.fixture.asked).toEqual([]);
    expect((await turn(socket, create())).at(-1)).toMatchObject({ type: "response.completed" });
    expect(world.fixture.refused).toHaveLength(3);
    socket.close();
  });

  it("meters every turn on its own, with aliases, allow-list and key", async () => {
    await using world = await openWorld(answer);
    world.fixture.setSpec({ aliases: { fast: "m-fast" }, allow: ["m*"] });
    const socket = open(world.fixture);
    await new Promise((resolve) => socket.once("open", resolve));
    const first = await turn(socket, create({ model: "fast" }));
    expect(first.at(-1)).toMatchObject({ type: "response.completed" });
    const refused = await turn(socket, create({ model: "gpt-9" }));
    expect(refused).toMatchObject([{ type: "error", status: 403, error: { code: "model.not_allowed" } }]);
    const id = (first.at(-1)!["response"] as { id: string }).id;
    await turn(socket, create({ model: "fast", previous_response_id: id }));
    socket.close();
    expect(world.fixture.settled.map(({ outcome }) => outcome.usage)).toEqual([all, all]);
    expect(world.fixture.settled[0]!.outcome).toMatchObject({ status: 200, stop: "end", hasAnswer: true });
    // The second continues the first, whose tokens are input again.
    expect(world.fixture.asked[1]!.estimate.input).toBeGreaterThan(all.input + all.output);
    expect(world.model.requests.map(({ model }) => model)).toEqual(["m-fast", "m-fast"]);
    expect(world.model.requests[0]!.headers).toMatchObject({ authorization: `Bearer ${realKey}` });
    expect(world.fixture.refused).toMatchObject([{ code: "model.not_allowed" }]);
  });

  it("says that the budget is used up, and goes on when it is not any more", async () => {
    await using world = await openWorld(answer);
    const { admit } = world.fixture;
    world.fixture.admit = async () => ({
      outcome: "refused",
      code: "budget.exhausted",
      message: "Nothing is left.",
    });
    const socket = open(world.fixture);
    await new Promise((resolve) => socket.once("open", resolve));
    const refused = await turn(socket, create());
    expect(refused).toMatchObject([{ type: "error", status: 429, error: { code: "budget.exhausted" } }]);
    world.fixture.admit = admit;
    expect((await turn(socket, create())).at(-1)).toMatchObject({ type: "response.completed" });
    socket.close();
  });

  it("passes on that a provider has no WebSockets", async () => {
    await using model = await startScriptedModel({ script: answer, webSocket: false });
    await using fixture = await openGatewayFixture(model.url);
    const socket = open(fixture);
    const [, answered] = await new Promise<unknown[]>((resolve) =>
      socket.once("unexpected-response", (...args) => resolve(args)),
    );
    expect(answered).toMatchObject({ statusCode: 426 });
    socket.on("error", () => undefined).terminate();
  });

  it("settles what the program leaves, and what the provider breaks off", async () => {
    await using world = await openWorld([{ text: "x".repeat(2_000), usage, chunkDelayMs: 20 }]);
    const socket = open(world.fixture);
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send(create());
    await new Promise((resolve) => socket.once("message", resolve));
    socket.terminate();
    const left = await waitFor("the settlement", () => world.fixture.settled[0]);
    expect(left.outcome).toMatchObject({ hasAnswer: true, usage: undefined, error: "client_closed" });
    await using broken = await openWorld([{ text: "x".repeat(2_000), usage, fault: { kind: "disconnect" } }]);
    const other = open(broken.fixture);
    await new Promise((resolve) => other.once("open", resolve));
    await turn(other, create());
    const { outcome } = await waitFor("the settlement", () => broken.fixture.settled[0]);
    expect(outcome).toMatchObject({ hasAnswer: true, error: "model.unavailable" });
  });

  it("passes no signal on, whose error would look like the end of an answer; to cancel is to leave", async () => {
    await using world = await openWorld([{ text: "x".repeat(2_000), usage, chunkDelayMs: 20 }]);
    const socket = open(world.fixture);
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send('{"type":"response.processed","response_id":"nonsense"}');
    socket.send(create());
    await new Promise((resolve) => socket.once("message", resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.send('{"type":"response.cancel","response_id":"nonsense"}');
    const { outcome } = await waitFor("the settlement", () => world.fixture.settled[0]);
    expect(outcome).toMatchObject({ hasAnswer: true, usage: undefined, error: "client_closed" });
    await closed;
  });

  it("keeps nothing reserved for what cannot be written again", async () => {
    await using world = await openWorld(answer);
    const socket = open(world.fixture);
    await new Promise((resolve) => socket.once("open", resolve));
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const frame = `{"type":"response.create","model":"m","x":${deep}}`;
    expect(await turn(socket, frame)).toMatchObject([{ type: "error" }]);
    expect(world.fixture.settled).toHaveLength(world.fixture.asked.length);
    expect((await turn(socket, create())).at(-1)).toMatchObject({ type: "response.completed" });
    socket.close();
  });

  it("holds a box to so many sockets and so large frames", async () => {
    await using model = await startScriptedModel({ script: answer });
    await using fixture = await openGatewayFixture(model.url, {
      limits: { socketsPerBox: 1, frameBytes: 1_000 },
    });
    const socket = open(fixture);
    await new Promise((resolve) => socket.once("open", resolve));
    const second = open(fixture);
    second.on("error", () => undefined);
    const status = await new Promise((resolve) =>
      second.once("unexpected-response", (_, refused) => resolve(refused.statusCode)),
    );
    expect(status).toBe(413);
    expect((await turn(socket, create())).at(-1)).toMatchObject({ type: "response.completed" });
    socket.send(create({ instructions: "x".repeat(2_000) }));
    const code = await new Promise((resolve) => socket.once("close", resolve));
    expect(code).toBe(1009);
    expect(fixture.settled).toHaveLength(1);
    // The slot is free again, once the gateway has seen the end too.
    const reopen = () =>
      new Promise<boolean>((resolve) => {
        const next = open(fixture);
        next.once("error", () => resolve(false));
        next.once("open", () => {
          next.terminate();
          resolve(true);
        });
      });
    while (!(await reopen()));
  });

  it("refuses binary frames, and answers what is no request with an error", async () => {
    await using world = await openWorld(answer);
    const socket = open(world.fixture);
    await new Promise((resolve) => socket.once("open", resolve));
    expect(await turn(socket, '{"type":"session.update"}')).toMatchObject([{ type: "error", status: 400 }]);
    expect(await turn(socket, "no json")).toMatchObject([{ type: "error", status: 400 }]);
    socket.send(Buffer.from(create()));
    const [code] = await new Promise<[number]>((resolve) => socket.once("close", (one) => resolve([one])));
    expect(code).toBe(1008);
    expect(world.model.requests).toEqual([]);
  });
});
