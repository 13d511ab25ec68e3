import { describe, expect, it } from "vitest";
import { routeNames, routeTable } from "../contract/api/routes.ts";
import { createClient } from "./client.ts";
import type { Answer, Call, Stream } from "./transport.ts";

/** A daemon that gives every call the same answer. */
function recording(text: string, status = 200) {
  const calls: Call[] = [];
  const opened: { path: string; sent: string[] }[] = [];
  const answer: Answer = {
    status,
    text: async () => text,
    async *chunks() {
      yield new TextEncoder().encode(text);
    },
  };
  const client = createClient({
    call: async (call) => (calls.push(call), answer),
    stream: async (path) => {
      const sent: string[] = [];
      opened.push({ path, sent });
      return { sendText: (one) => void sent.push(one) } as Stream;
    },
  });
  return { client, calls, opened };
}

describe("the client", () => {
  it("has a method for each route, which sends that route's method and path", async () => {
    for (const name of routeNames) {
      const { client, calls, opened } = recording("{}");
      const { method, path, media } = routeTable[name];
      const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => `${param}/1`);
      const call = client[name] as unknown as (...args: unknown[]) => unknown;
      const result = call(...params, {});
      if (media === "lines") for await (const _line of result as AsyncIterable<unknown>);
      else await result;
      const filled = path.replace(/\{(\w+)\}/g, (_all, param: string) => `${param}%2F1`);
      if (media === "websocket") expect(opened, name).toEqual([{ path: filled, sent: ["{}"] }]);
      else expect(calls, name).toMatchObject([{ method, path: filled }]);
    }
  });

  it("sends a query, a body, and an empty body where the route takes one", async () => {
    const { client, calls } = recording("{}");
    await client.listEgress({ box: "shop", limit: 5, host: undefined });
    await client.moveBox("shop", { runtime: "docker" });
    await client.startBox("shop");
    await client.createBox();
    await client.getBox("shop");
    expect(calls.map(({ path }) => path)).toEqual([
      "/v1/egress?box=shop&limit=5",
      "/v1/boxes/shop/move",
      "/v1/boxes/shop/start",
      "/v1/boxes",
      "/v1/boxes/shop",
    ]);
    expect(calls.map(({ body }) => body)).toEqual([undefined, { runtime: "docker" }, {}, {}, undefined]);
  });

  it("returns the answer, one field of it, or its lines", async () => {
    expect(await recording(`{"boxes":[]}`).client.listBoxes()).toEqual([]);
    expect(await recording(`{"toml":""}`).client.learnPolicy("shop")).toEqual({ toml: "" });
    const steps = [];
    for await (const step of recording(`{"a":1}\n{"a":2}\n`).client.buildImage({})) steps.push(step);
    expect(steps).toEqual([{ a: 1 }, { a: 2 }]);
    expect(await recording("up 1").client.metrics()).toBe("up 1");
  });

  it("throws what the daemon refuses, but takes the answer of a daemon that is not ready", async () => {
    const refusal = `{"error":{"code":"box.not_found","message":"There is none."}}`;
    await expect(recording(refusal, 404).client.getBox("shop")).rejects.toMatchObject({
      code: "box.not_found",
    });
    expect(await recording(`{"isReady":false,"checks":[]}`, 503).client.readyz()).toMatchObject({
      isReady: false,
    });
    await expect(recording(refusal, 503).client.getBox("shop")).rejects.toMatchObject({
      code: "box.not_found",
    });
  });

  it("gives up on an answer after a time, but on no work of a box and on no stream", async () => {
    const { client, calls } = recording("{}");
    await client.getBox("shop");
    await client.runChecks("shop");
    await client.getLogs("shop");
    for await (const _event of client.followEvents({}));
    expect(calls.map(({ timeoutMs }) => timeoutMs)).toEqual([120_000, undefined, undefined, undefined]);
    expect(calls.at(-1)?.path).toBe("/v1/events?follow=true");
  });
});
