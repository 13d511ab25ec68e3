/**
 * Sends requests to providers. Each ends in an answer or in `model.unavailable`, within the limits; it is sent again
 * only where that is safe: nothing had been sent, or a kept connection turned out to be closed.
 */
import { type IncomingMessage, request as httpRequest } from "node:http";
import type { SecureContext } from "node:tls";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import type { ModelProvider } from "../../contract/model/api.ts";
import { wasStale } from "../../host/sockets/reusing-agent.ts";
import type { ModelLimits } from "./limits.ts";
import { ConnectFailure, OriginAgent } from "./origin-agent.ts";

export interface UpstreamsOptions {
  readonly limits: ModelLimits;
  readonly trust: () => Promise<SecureContext>;
  readonly proxy?: URL | undefined;
}

export interface Order {
  readonly provider: ModelProvider;
  readonly method: string;
  /** With the query, as it follows the provider's base URL. */
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
}

/** Where a request really goes. */
export interface UpstreamTarget {
  readonly agent: OriginAgent;
  readonly host: string;
  readonly path: string;
}

/** A kept connection was closed by the server before it read anything of this request. */
class StaleConnection extends AgentBoxError {}

export class Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #agents = new Map<string, OriginAgent>();

  constructor(options: UpstreamsOptions) {
    this.#options = options;
  }

  target({ name, baseUrl }: ModelProvider, path: string): UpstreamTarget {
    const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
    if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
      throw new AgentBoxError("model.unavailable", `The model provider "${name}" has no usable address.`, {
        hint: "Set its base_url to an http:// or https:// URL.",
      });
    }
    let agent = this.#agents.get(url.origin);
    if (agent === undefined) {
      agent = new OriginAgent(url, this.#options);
      this.#agents.set(url.origin, agent);
    }
    return { agent, host: url.host, path: url.pathname.replace(/\/$/, "") + path };
  }

  async send(order: Order, signal: AbortSignal): Promise<IncomingMessage> {
    try {
      return await this.#once(order, signal);
    } catch (error) {
      const isSafe = error instanceof ConnectFailure || error instanceof StaleConnection;
      if (!isSafe || signal.aborted) throw error;
      if (error instanceof ConnectFailure) await this.#pause(signal);
      return await this.#once(order, signal);
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  #once(order: Order, signal: AbortSignal): Promise<IncomingMessage> {
    const { agent, host, path } = this.target(order.provider, order.path);
    const about = order.body === undefined ? [] : aboutBody(order.body);
    const sentMs = performance.now();
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        agent,
        method: order.method,
        path,
        headers: ["host", host, ...order.headers, ...about, "accept-encoding", "identity"],
        setHost: false,
      });
      const abort = (): void => void request.destroy();
      const timer = setTimeout(() => request.destroy(silent()), this.#options.limits.firstByteMs);
      const over = (): void => clearTimeout(timer);
      signal.addEventListener("abort", abort, { once: true });
      request.once("close", () => signal.removeEventListener("abort", abort));
      request.once("response", (answer) => {
        over();
        resolve(answer);
      });
      // No other protocol was asked for, and Node reports only here that there will be no answer.
      request.once("upgrade", (_, socket) => {
        over();
        socket.destroy();
        reject(unavailable("it answered in another protocol"));
      });
      request.on("error", (error) => {
        over();
        if (error instanceof AgentBoxError) reject(error);
        // A server that takes longer has read the request, and may have done what it asks.
        else if (wasStale(request, error) && performance.now() - sentMs < this.#options.limits.staleMs)
          reject(new StaleConnection("model.unavailable", brokeOff(error)));
        else reject(unavailable(messageOf(error)));
      });
      if (signal.aborted) abort();
      request.end(order.body);
    });
  }

  #pause(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, this.#options.limits.retryMs);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}

/** SECURITY: of ours, because servers decode by it, and in another charset the same bytes are another request. */
const aboutBody = (body: Buffer): readonly string[] => [
  "content-type",
  "application/json",
  "content-length",
  String(body.length),
];

const hint = "Try again; this is the provider, not the policy of the box.";

const brokeOff = (error: unknown): string => `The model provider broke off: ${messageOf(error)}.`;

export const unavailable = (why: string): AgentBoxError =>
  new AgentBoxError("model.unavailable", `The model provider broke off: ${why}.`, { hint });

const silent = (): AgentBoxError =>
  new AgentBoxError("model.unavailable", "The model provider did not answer in time.", { hint });
