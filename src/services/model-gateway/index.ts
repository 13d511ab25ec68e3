/**
 * The model gateway on the host. It asks its listener before anything is sent, reads keys only through the function it
 * is given, and keeps nothing of what passes.
 */
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { rememberSuccess } from "../../base/remember-success.ts";
import type { Logger } from "../../host/logger.ts";
import { readServerTrust } from "../../host/server-trust.ts";
import type { KeyOf, ModelGateway, ModelListener } from "../../ports/model-gateway.ts";
import { HostModelGateway } from "./gateway.ts";
import { type ModelLimits, modelLimits } from "./limits.ts";
import { Upstreams } from "./upstreams.ts";

export interface ModelGatewayOptions {
  readonly listener: ModelListener;
  readonly keyOf: KeyOf;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: Partial<ModelLimits> | undefined;
  /** `http://[user:password@]host:port` of a company's proxy that everything must go through. */
  readonly upstreamProxy?: string | undefined;
  /** Authorities of providers beside those the host trusts, as PEM. */
  readonly extraAuthorities?: readonly string[] | undefined;
}

export function openModelGateway(options: ModelGatewayOptions): ModelGateway {
  const { listener, keyOf, clock, logger, upstreamProxy, extraAuthorities } = options;
  const limits: ModelLimits = { ...modelLimits, ...options.limits };
  const upstreams = new Upstreams({
    limits,
    trust: rememberSuccess(() => readServerTrust(extraAuthorities ?? [])),
    proxy: upstreamProxy === undefined ? undefined : parseProxy(upstreamProxy),
  });
  return new HostModelGateway({ listener, keyOf, clock, logger, limits, upstreams });
}

function parseProxy(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === "http:" && parsed.hostname !== "") return parsed;
  // SECURITY: the URL is not repeated, because it may hold a password.
  throw new AgentBoxError("gate.start_failed", "The upstream proxy is not an http:// URL with a host.", {
    hint: "Write it as http://proxy.example.org:3128 or http://user:password@proxy.example.org:3128.",
  });
}
