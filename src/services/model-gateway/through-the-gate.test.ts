import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { startScriptedModel } from "../../../test/model/scripted-model.ts";
import { modelHost, placeholderKey } from "../../contract/model/api.ts";
import { type GateFixture, openGateFixture, readAll, rule } from "../gate/fixtures/gate.fixture.ts";
import { openGatewayFixture, realKey } from "./model-gateway.fixture.ts";

const usage = { input: 11, output: 7 };

async function openWorld() {
  const model = await startScriptedModel({ script: [{ text: "Hello.", usage }] });
  const models = await openGatewayFixture(model.url);
  const gate = await openGateFixture({
    internalHosts: new Map([[modelHost, models.gateway]]),
    resolve: () => Promise.reject(new TypeError("nothing may be looked up")),
  });
  gate.setPolicy(rule(modelHost, 80, { inspect: true }));
  return {
    model,
    models,
    gate,
    async [Symbol.asyncDispose]() {
      for (const one of [gate, models, model]) await one[Symbol.asyncDispose]();
    },
  };
}

const body = JSON.stringify({
  model: "m",
  max_tokens: 50,
  stream: true,
  messages: [{ role: "user", content: "Hi." }],
});
const post = (target: string): string =>
  [
    `POST ${target} HTTP/1.1`,
    `Host: ${modelHost}`,
    `Authorization: Bearer ${placeholderKey}`,
    `Content-Length: ${body.length}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");

describe("the model gateway behind the gate", () => {
  const ways: readonly [
    way: string,
    open: (gate: GateFixture) => ReturnType<GateFixture["open"]>,
    target: string,
  ][] = [
    ["connects", (gate) => gate.open({ via: "tcp", host: modelHost, port: 80 }), "/anthropic/v1/messages"],
    ["uses the proxy", (gate) => gate.open({ via: "proxy" }), `http://${modelHost}/anthropic/v1/messages`],
  ];
  it.each(ways)("answers a program that %s, and both keep their records", async (_, open, target) => {
    await using world = await openWorld();
    const socket = await open(world.gate);
    socket.write(post(target));
    const text = await readAll(socket);
    expect(text).toMatch(/^HTTP\/1\.1 200/);
    expect(text).toContain("message_stop");
    expect(text).not.toContain(realKey);
    expect(world.models.settled).toMatchObject([{ outcome: { usage } }]);
    expect(world.model.requests[0]!.headers).toMatchObject({ "x-api-key": realKey });
    expect(await world.gate.waitForRecord()).toMatchObject({
      verdict: "allow",
      host: modelHost,
      path: "/anthropic/v1/messages",
      status: 200,
      bytesOut: body.length,
    });
    expect(world.gate.records[0]!.bytesIn).toBeGreaterThan(100);
    expect(world.gate.records).toHaveLength(1);
  });

  it("takes a WebSocket, and a policy that changes ends it and what it asked", async () => {
    await using world = await openWorld();
    const socket = await world.gate.open({ via: "tcp", host: modelHost, port: 80 });
    const client = new WebSocket(`ws://${modelHost}/openai/v1/responses`, { createConnection: () => socket });
    await new Promise((resolve) => client.once("open", resolve));
    const said: string[] = [];
    client.on("message", (data: Buffer) => said.push(data.toString()));
    client.send(JSON.stringify({ type: "response.create", model: "m", input: "Hi." }));
    await new Promise<void>((resolve) =>
      client.on("message", () => {
        if (said.at(-1)?.includes("response.completed")) resolve();
      }),
    );
    expect(world.models.settled).toMatchObject([{ outcome: { usage } }]);
    world.gate.setPolicy();
    await new Promise((resolve) => client.once("close", resolve));
    expect(await world.gate.waitForRecord()).toMatchObject({
      verdict: "deny",
      reason: "no_rule",
      status: 101,
    });
  });
});
