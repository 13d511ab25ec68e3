/**
 * Found by attack: a request to a model was judged in one reading and taken in another. With `charset=utf-7` the same
 * bytes are another JSON to servers that decode by the header (aiohttp, Express); numbers as texts, limits under a
 * second name and numbers of enumerations got past the estimate and the price.
 */
import { describe, expect, it } from "vitest";
import {
  openGatewayFixture,
  startFakeProvider,
} from "../../src/services/model-gateway/model-gateway.fixture.ts";

const utf7 = (text: string): string =>
  `+${Buffer.from(text, "utf16le").swap16().toString("base64").replaceAll("=", "")}-`;
const chat = "/openai/v1/chat/completions";

/** As a server reads a body that decodes by the declared charset. */
function readByHeader(body: string, type: string): unknown {
  if (!type.includes("utf-7")) return JSON.parse(body);
  const plain = body.replaceAll(/\+([\w/+]+)-/g, (_, text: string) =>
    Buffer.from(text, "base64").swap16().toString("utf16le"),
  );
  return JSON.parse(plain);
}

describe("a body to a model has one reading", () => {
  it.each([
    "application/json",
    "application/json; charset=utf-7",
    "application/x-www-form-urlencoded",
    "text/plain",
  ])("also when it is called %s", async (type) => {
    const hidden = utf7('","plugins":[{"id":"web"}],"x":"');
    const body = JSON.stringify({ model: "m", user: `a${hidden}`, messages: [] });
    // The control: read by the header, there is a field that is refused when it is judged.
    if (type.includes("utf-7")) expect(readByHeader(body, type)).toHaveProperty("plugins");
    await using provider = await startFakeProvider();
    await using fixture = await openGatewayFixture(provider.url);
    const headers = { "content-type": type };
    expect((await fixture.ask({ path: chat, headers, body })).status).toBe(200);
    const [seen] = provider.seen;
    expect(seen?.headers["content-type"]).toBe("application/json");
    expect(readByHeader(seen!.body, seen!.headers["content-type"]!)).not.toHaveProperty("plugins");
  });
});

describe("the estimate of a request", () => {
  it.each([{ n: "8" }, { n: "1_0" }, { n: 2.5 }, { best_of: "4" }])(
    "is not got around by %j",
    async (more) => {
      await using provider = await startFakeProvider();
      await using fixture = await openGatewayFixture(provider.url);
      const body = { model: "m", max_tokens: 100, messages: [] };
      expect((await fixture.ask({ path: chat, body: { ...body, n: 8 } })).status).toBe(200);
      expect(fixture.asked).toMatchObject([{ estimate: { output: 800 } }]);
      expect((await fixture.ask({ path: chat, body: { ...body, ...more } })).status).toBe(400);
      expect(fixture.refused).toMatchObject([{ code: "model.bad_request" }]);
      expect(provider.seen).toHaveLength(1);
    },
  );

  it.each(["max_tokens", "max_completion_tokens", "max_new_tokens", "n_predict"])(
    "counts a limit that cannot be read (%s) as none, and lowers it",
    async (name) => {
      await using provider = await startFakeProvider();
      await using fixture = await openGatewayFixture(provider.url);
      fixture.admit = async () => ({ outcome: "admitted", ticket: "t", maxOutput: 50 });
      for (const value of ["100000", -1]) {
        const other = name === "max_tokens" ? "max_completion_tokens" : "max_tokens";
        const body = { model: "m", messages: [], [other]: 10, [name]: value };
        expect((await fixture.ask({ path: chat, body })).status).toBe(200);
        expect(fixture.asked.at(-1)?.estimate.longest).toBeGreaterThan(1_000);
        expect(JSON.parse(provider.seen.at(-1)!.body)).toMatchObject({ [other]: 10, [name]: 50 });
      }
    },
  );
});

it.each(["true", 1, "on"])("an answer in the background is refused, also as %j", async (background) => {
  await using provider = await startFakeProvider();
  await using fixture = await openGatewayFixture(provider.url);
  const ask = (more: object) =>
    fixture.ask({ path: "/openai/v1/responses", body: { model: "m", input: "x", ...more } });
  expect((await ask({ background: false })).status).toBe(200);
  expect((await ask({ background })).status).toBe(400);
  expect(provider.seen).toHaveLength(1);
});

describe("what has a price of its own is named", () => {
  const gemini = "/gemini/v1beta/models/m:generateContent";
  const sound = { inlineData: { mimeType: "image/png", mime_type: "audio/mp3", data: "AAAA" } };
  const tool = { type: "function", function: { name: "f", cache_control: { type: "ephemeral", ttl: "1h" } } };
  it.each([
    [gemini, { contents: [], generationConfig: { responseModalities: [3] } }, "media"],
    [gemini, { contents: [{ parts: [sound] }] }, "audio"],
    [chat, { model: "m", messages: [], modalities: "audio" }, "audio"],
    [chat, { model: "m", messages: [], speed: "fast" }, "speed=fast"],
    [chat, { model: "m", messages: [], tools: [tool] }, "cache_ttl=1h"],
  ])("%s %j: %s", async (path, body, term) => {
    await using provider = await startFakeProvider();
    await using fixture = await openGatewayFixture(provider.url);
    await fixture.ask({ path, body });
    expect(fixture.asked).toMatchObject([{ terms: [term] }]);
  });
});
