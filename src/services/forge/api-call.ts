/**
 * One request to a forge's API: to the host that is named and no other, within a time and a size. Redirects are
 * answers like any other, so a credential never follows one.
 */
import { type IncomingMessage, type RequestOptions, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import type { SecureContext } from "node:tls";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { portOf } from "../../base/url-address.ts";
import { version } from "../../base/version.ts";
import { openTunnel } from "../../host/proxy-tunnel.ts";
import { readBounded } from "../../host/read-bounded.ts";
import { readServerTrust } from "../../host/server-trust.ts";
import type { ForgeCredential } from "../../ports/forge.ts";
import { quoteSafely } from "./mask.ts";

export interface ApiCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly credential: ForgeCredential;
  readonly authorization: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface ApiAnswer {
  readonly status: number;
  /** Undefined when it is no JSON. */
  readonly value: unknown;
}

export type Api = (call: ApiCall) => Promise<ApiAnswer>;

const maxAnswerBytes = 4 << 20;

export function openApi(options: { readonly proxy: string | undefined; readonly timeoutMs: number }): Api {
  return async (call) => {
    const url = new URL(call.url);
    const signal = AbortSignal.timeout(options.timeoutMs);
    try {
      const target = { host: url.hostname, port: portOf(url) };
      const { proxy, timeoutMs } = options;
      const socket = proxy === undefined ? undefined : await openTunnel(new URL(proxy), target, timeoutMs);
      const answer = await send(call, url, socket, signal);
      return { status: answer.statusCode ?? 0, value: parseJson(await readAnswer(answer)) };
    } catch (error) {
      const why = signal.aborted ? "no answer in time" : quoteSafely(messageOf(error), call.credential);
      throw new AgentBoxError("push.failed", `The API of ${url.host} could not be asked: ${why}.`, {
        hint: "The branch is pushed. Try again, or open the pull request in the browser.",
      });
    }
  };
}

async function send(
  { method, authorization, headers, body }: ApiCall,
  url: URL,
  socket: Socket | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const isSecure = url.protocol === "https:";
  const options: RequestOptions & { readonly secureContext?: SecureContext; readonly socket?: Socket } = {
    method,
    signal,
    agent: false,
    headers: {
      accept: "application/json",
      "user-agent": `agentbox/${version}`,
      ...headers,
      authorization,
      ...(text === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
    },
    ...(isSecure ? { secureContext: await readServerTrust([]) } : {}),
    ...(socket === undefined ? {} : isSecure ? { socket } : { createConnection: () => socket }),
  };
  return await new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(url, options);
    request.once("response", resolve);
    request.once("error", reject);
    request.end(text);
  });
}

async function readAnswer(answer: IncomingMessage): Promise<string> {
  const bytes = await readBounded(answer, maxAnswerBytes);
  if (bytes !== undefined) return bytes.toString("utf8");
  throw new AgentBoxError("push.failed", "the answer is too large");
}
