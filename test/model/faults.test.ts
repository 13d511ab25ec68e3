import { describe, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { JsonObject } from "./json.ts";
import { post, postForEvents, postForJson } from "./plain-client.ts";
import { failFirst } from "./script.ts";
import { startScriptedModel } from "./scripted-model.ts";
import type { Fault } from "./step.ts";

const text = "A text that is long enough to come in a few pieces, so that half of it is something.";
const usage = { input: 10, output: 20 };
const usualQuestion = { model: "m", messages: [{ role: "user", content: "go" }] };

async function withFault<T>(fault: Fault, act: (url: string) => Promise<T>): Promise<T> {
  await using model = await startScriptedModel({ script: [{ text, usage, fault }] });
  return await act(`${model.url}/v1/messages`);
}

const streamed: JsonObject = { ...usualQuestion, stream: true };

describe("faults", () => {
  it("break a stream half-way, and count only the usage that was sent", async () => {
    await using model = await startScriptedModel({
      script: [{ text, usage, fault: { kind: "disconnect" } }],
    });
    const response = await post(`${model.url}/v1/messages`, streamed);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow("terminated");
    expect(model.requests[0]?.outcome).toBe("cut");
    expect(model.usageTotals.all).toMatchObject({ input: 10, output: 1 });
  });

  it("break a document half-way", async () => {
    const response = await withFault({ kind: "disconnect" }, async (url) => {
      const response = await post(url, usualQuestion);
      await expect(response.text()).rejects.toThrow("terminated");
      return response;
    });
    expect(response.status).toBe(200);
  });

  it("put garbage into a stream and into a document", async () => {
    await withFault({ kind: "malformed" }, async (url) => {
      await expect(postForEvents(url, streamed)).rejects.toThrow(SyntaxError);
      await expect(postForJson(url, usualQuestion)).rejects.toThrow(SyntaxError);
    });
  });

  it("answer with a page", async () => {
    const type = await withFault({ kind: "content-type" }, async (url) => {
      const response = await post(url, streamed);
      return response.headers.get("content-type");
    });
    expect(type).toBe("text/html");
  });

  it("hang until the client leaves", async () => {
    await using model = await startScriptedModel({ script: [{ fault: { kind: "hang" } }] });
    const controller = new AbortController();
    const answer = post(`${model.url}/v1/messages`, streamed, controller.signal);
    await waitFor("the request", () => model.requests.length === 1);
    expect(model.requests[0]?.outcome).toBe("pending");
    controller.abort();
    await expect(answer).rejects.toThrow("aborted");
    await waitFor("the server to notice", () => model.requests[0]?.outcome === "abandoned");
  });

  it("happen only as often as asked", async () => {
    const fault = { kind: "error", status: 500 } as const;
    await using model = await startScriptedModel({ script: failFirst(fault, [{ text }], 2) });
    const url = `${model.url}/v1/messages`;
    const status = async () => (await post(url, usualQuestion)).status;
    expect([await status(), await status(), await status()]).toEqual([500, 500, 200]);
  });

  it("show a script that throws as a failure of the server", async () => {
    await using model = await startScriptedModel({
      script: () => {
        throw new TypeError("no such step");
      },
    });
    const response = await post(`${model.url}/v1/messages`, usualQuestion);
    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining("no such step")]);
  });
});

describe("a slow stream", () => {
  it("waits between the pieces and stops when the client leaves", async () => {
    await using model = await startScriptedModel({ script: [{ text, usage, chunkDelayMs: 5 }] });
    const startedAt = performance.now();
    const events = await postForEvents(`${model.url}/v1/messages`, streamed);
    expect(performance.now() - startedAt).toBeGreaterThan((events.length - 1) * 4);
    expect(model.requests[0]?.outcome).toBe("answered");

    await using endless = await startScriptedModel({ script: [{ text, chunkDelayMs: 60_000 }] });
    const response = await post(`${endless.url}/v1/messages`, streamed);
    await response.body?.cancel();
    await waitFor("the server to notice", () => endless.requests[0]?.outcome === "abandoned");
  });
});
