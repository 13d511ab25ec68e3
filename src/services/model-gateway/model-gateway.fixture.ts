/** A gateway with real sockets on both sides: programs on loopback in place of the gate, providers on loopback too. */
import { once } from "node:events";
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  createServer,
  request as httpRequest,
} from "node:http";
import type { AddressInfo } from "node:net";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { type ModelSpec, type ProviderApi, placeholderKey } from "../../contract/model/api.ts";
import { systemClock } from "../../host/clock.ts";
import { silentLogger } from "../../host/logger.ts";
import { AgentBoxError } from "../../base/errors.ts";
import type {
  Admission,
  ModelGateway,
  ModelOutcome,
  ModelRequest,
  ProviderKey,
} from "../../ports/model-gateway.ts";
import { type ModelGatewayOptions, openModelGateway } from "./index.ts";

export const realKey = "sk-real-0123456789abcdef";
export const box = { name: "amber", incarnation: "i1" };

export interface Settlement {
  readonly ticket: string;
  readonly request: ModelRequest;
  readonly outcome: ModelOutcome;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether all of it came. */
  readonly isWhole: boolean;
}

export interface Ask {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: unknown;
  /** The box that asks; `amber` by default. */
  readonly from?: string;
  /** Ends the request before it is answered. */
  readonly signal?: AbortSignal;
}

export interface GatewayFixture extends AsyncDisposable {
  readonly gateway: ModelGateway;
  readonly port: number;
  readonly asked: ModelRequest[];
  readonly settled: Settlement[];
  readonly refused: { readonly code: string; readonly message: string }[];
  readonly logged: unknown[];
  progressed: number;
  /** The listener's answer to the next request. */
  admit: (request: ModelRequest, signal: AbortSignal) => Promise<Admission>;
  keys: Record<string, string | ProviderKey | undefined>;
  ask(ask: Ask): Promise<Reply>;
  /** The answer as it comes, for those who leave early. */
  open(ask: Ask): Promise<IncomingMessage>;
  setSpec(more: Partial<ModelSpec>): void;
}

export const providersAt = (url: string, apis: readonly ProviderApi[] = ["anthropic", "openai", "gemini"]) =>
  apis.map((api) => ({ name: api, api, baseUrl: url, keyVariable: "TEST_KEY" }));

export const specFor = (url: string, more: Partial<ModelSpec> = {}): ModelSpec => ({
  provider: "anthropic",
  allow: [],
  aliases: {},
  providers: providersAt(url),
  ...more,
});

export async function openGatewayFixture(
  upstreamUrl: string,
  options: Partial<ModelGatewayOptions> = {},
): Promise<GatewayFixture> {
  let tickets = 0;
  const logged: unknown[] = [];
  const log = (...parts: unknown[]): void => void logged.push(parts);
  const gateway = openModelGateway({
    clock: systemClock,
    logger: { ...silentLogger, warn: log, error: log, info: log, debug: log },
    keyOf: async (_box, { name, keyVariable }) => {
      if (keyVariable === undefined) return undefined;
      const key = fixture.keys[keyVariable];
      if (key !== undefined) return typeof key === "string" ? { value: key, form: "key" } : key;
      throw new AgentBoxError("model.no_key", `There is no key for ${name}.`, {
        hint: `Set ${keyVariable}.`,
      });
    },
    listener: {
      admit: (request, signal) => {
        fixture.asked.push(request);
        return fixture.admit(request, signal);
      },
      settle: (ticket, request, outcome) => void fixture.settled.push({ ticket, request, outcome }),
      progressed: () => void (fixture.progressed += 1),
      refused: (_, code, message) => void fixture.refused.push({ code, message }),
    },
    ...options,
  });
  const server = createServer((request, response) => {
    request.pause();
    const name = request.headers["x-test-box"];
    gateway.serve(typeof name === "string" ? { ...box, name } : box, request, response);
  });
  server.on("upgrade", (request, socket, head) => gateway.upgrade(box, request, socket, head));
  const port = await listen(server);
  const open = (ask: Ask): Promise<IncomingMessage> => openRequest(port, ask);
  const fixture: GatewayFixture = {
    gateway,
    port,
    asked: [],
    settled: [],
    refused: [],
    logged,
    progressed: 0,
    admit: async () => ({ outcome: "admitted", ticket: `t${++tickets}` }),
    keys: { TEST_KEY: realKey },
    open,
    ask: async (ask) => await readReply(await open(ask)),
    setSpec: (more) => {
      for (const name of [box.name, "birch"]) gateway.setBox({ ...box, name }, specFor(upstreamUrl, more));
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await close(server);
    },
  };
  fixture.setSpec({});
  return fixture;
}

function openRequest(
  port: number,
  { path, method, headers, body, from, signal }: Ask,
): Promise<IncomingMessage> {
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: "127.0.0.1",
        port,
        path,
        method: method ?? (text === undefined ? "GET" : "POST"),
        headers: {
          authorization: `Bearer ${placeholderKey}`,
          ...omitUndefined({ "x-test-box": from }),
          ...headers,
        },
        agent: false,
        ...omitUndefined({ signal }),
      },
      resolve,
    );
    request.on("error", reject);
    request.end(text);
  });
}

async function readReply(answer: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  answer.on("data", (chunk: Buffer) => chunks.push(chunk));
  answer.on("error", () => undefined);
  await new Promise((resolve) => answer.once("close", resolve));
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    text: Buffer.concat(chunks).toString(),
    isWhole: answer.complete,
  };
}

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface FakeProvider extends AsyncDisposable {
  readonly url: string;
  readonly server: Server;
  readonly seen: Seen[];
  /** The answer; the request has been read. */
  answer: RequestListener;
}

/** A provider that does what it should not; well-behaved ones are scripted elsewhere. */
export async function startFakeProvider(answer: RequestListener = hello): Promise<FakeProvider> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      provider.seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
      provider.answer(request, response);
    });
  });
  const port = await listen(server);
  const provider: FakeProvider = {
    url: `http://127.0.0.1:${port}`,
    server,
    seen: [],
    answer,
    [Symbol.asyncDispose]: () => close(server),
  };
  return provider;
}

export const hello: RequestListener = (_, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      type: "message",
      stop_reason: "end_turn",
      usage: { input_tokens: 3, output_tokens: 5, prompt_tokens: 3, completion_tokens: 5 },
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5 },
    }),
  );
};

export const sse = (...events: unknown[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");

export const streamOf =
  (text: string): RequestListener =>
  (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(text);
  };

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
