import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type JsonObject, asObject } from "./json.ts";
import { dataOf, postForEvents, postForJson } from "./plain-client.ts";
import { startScriptedModel } from "./scripted-model.ts";

const usage = { input: 11, output: 7, cached: 5, cacheWrite: 3, reasoning: 2 };
const patch = "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch";
const step = {
  thinking: "Let me see.",
  text: "I patch a file and look around.",
  calls: [
    { tool: "apply_patch", input: patch },
    { tool: "exec_command", arguments: { cmd: "ls" } },
  ],
  usage,
};
const question = { model: "m", input: "go" };
const allUsage = {
  input_tokens: 19,
  input_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 26,
};
const output = [
  { type: "reasoning" },
  { type: "message", content: [{ type: "output_text", text: step.text }] },
  { type: "custom_tool_call", name: "apply_patch", input: patch },
  { type: "function_call", name: "exec_command", arguments: `{"cmd":"ls"}` },
];

describe("Responses", () => {
  it("answers in one document", async () => {
    await using model = await startScriptedModel({ script: [step] });
    const body = await postForJson(`${model.url}/v1/responses`, question);
    expect(body).toMatchObject({ object: "response", status: "completed", output, usage: allUsage });
    expect(model.usageTotals.all).toEqual(usage);
  });

  it("streams the same answer in pieces", async () => {
    await using model = await startScriptedModel({ script: [step] });
    const events = await postForEvents(`${model.url}/v1/responses`, { ...question, stream: true });
    const data = dataOf(events);
    expect(events.every(({ event }, index) => event === data[index]?.["type"])).toBe(true);
    expect(data.map((one) => one["sequence_number"])).toEqual([...data.keys()]);
    const joined = (type: string) =>
      data
        .filter((one) => one["type"] === type)
        .map((one) => one["delta"])
        .join("");
    expect(joined("response.output_text.delta")).toBe(step.text);
    expect(joined("response.custom_tool_call_input.delta")).toBe(patch);
    expect(joined("response.function_call_arguments.delta")).toBe(`{"cmd":"ls"}`);
    expect(data.filter((one) => one["type"] === "response.output_item.done")).toHaveLength(4);
    expect(data.at(0)).toMatchObject({ type: "response.created", response: { status: "in_progress" } });
    expect(data.at(-1)).toMatchObject({
      type: "response.completed",
      response: { status: "completed", output, usage: allUsage },
    });
    expect(model.usageTotals.all).toEqual(usage);
  });
});

/** Sends one request and collects the events up to the one that ends the turn. */
async function takeTurn(socket: WebSocket, request: JsonObject): Promise<JsonObject[]> {
  const events: JsonObject[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    const listen = (data: Buffer) => {
      const event = asObject(JSON.parse(data.toString("utf8")));
      events.push(event);
      if (event["type"] !== "response.completed" && event["type"] !== "error") return;
      socket.off("message", listen);
      resolve();
    };
    socket.on("message", listen).once("close", () => reject(new Error("closed")));
  });
  socket.send(JSON.stringify({ type: "response.create", ...request }));
  await ended;
  return events;
}

const idOf = (events: readonly JsonObject[]): unknown => asObject(events.at(-1)?.["response"])["id"];

describe("Responses over a WebSocket", () => {
  it("takes several turns, each with only what is new", async () => {
    await using model = await startScriptedModel({ script: [step, { text: "done", usage }] });
    const socket = new WebSocket(`${model.url.replace("http", "ws")}/v1/responses`);
    await once(socket, "open");
    const warm = await takeTurn(socket, { ...question, generate: false });
    expect(asObject(warm.at(-1)?.["response"])).toMatchObject({ output: [], usage: { total_tokens: 0 } });
    const first = await takeTurn(socket, { model: "m", input: [], previous_response_id: idOf(warm) });
    expect(asObject(first.at(-1)?.["response"])).toMatchObject({ output, usage: allUsage });
    const results = [{ type: "function_call_output", call_id: "x", output: "a.txt" }];
    const second = await takeTurn(socket, { model: "m", input: results, previous_response_id: idOf(first) });
    expect(asObject(second.at(-1)?.["response"])).toMatchObject({
      output: [{ content: [{ text: "done" }] }],
    });
    expect(model.requests.map(({ transport }) => transport)).toEqual(["websocket", "websocket", "websocket"]);
    expect(model.requests[2]?.conversation).toMatchObject({ prompts: ["go"], round: 1 });
    expect(model.usageTotals.all.output).toBe(14);
    socket.close();
  });

  it("reports an error as an event", async () => {
    const fault = { kind: "error", status: 429, retryAfterSeconds: 2 } as const;
    await using model = await startScriptedModel({ script: [{ fault }] });
    const socket = new WebSocket(`${model.url.replace("http", "ws")}/v1/responses`);
    await once(socket, "open");
    const events = await takeTurn(socket, question);
    expect(events).toMatchObject([{ type: "error", status: 429, headers: { "retry-after": "2" } }]);
    socket.close();
  });

  it("can be refused, so that clients fall back to HTTP", async () => {
    await using model = await startScriptedModel({ webSocket: false });
    const socket = new WebSocket(`${model.url.replace("http", "ws")}/v1/responses`);
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toContain("426");
  });
});
