/**
 * Connects to a judged name. The address that was checked is the address that is connected to: a name is resolved
 * once for each dial, every address it has is checked, and the connection is made by address.
 */
import type { Socket } from "node:net";
import { messageOf } from "../../../base/errors.ts";
import type { Relay } from "../../../base/relay-buffers.ts";
import type { AddressException } from "../../../contract/network/policy.ts";
import type { GateLimits } from "../limits.ts";
import { connectOnce, dialFailure } from "./connect.ts";
import type { Resolve } from "./resolver.ts";
import { type UpstreamProxy, connectThroughProxy } from "./upstream-proxy.ts";

export interface Destination {
  readonly host: string;
  readonly port: number;
  /** This one address was opened by name; it is dialed as it is written. */
  readonly exception?: AddressException | undefined;
  /** For a connection that is only passed on; ignored behind a company's proxy, which speaks to us first. */
  readonly relay?: Relay | undefined;
}

export type Dial = (destination: Destination) => Promise<Socket>;

export interface DialerOptions {
  readonly resolve: Resolve;
  /** Which range forbids this address; undefined: none does. */
  readonly isForbidden: (address: string) => string | undefined;
  readonly limits: GateLimits;
  readonly upstreamProxy?: UpstreamProxy | undefined;
}

export function openDialer(options: DialerOptions): Dial {
  return async (destination) => {
    const { host, port, exception, relay } = destination;
    if (exception) return connectTo([exception.address], exception.port, options.limits, relay);
    // Behind a company's proxy the name is resolved there, so there is no address to check here; the policy has
    // refused raw addresses and reserved names before.
    if (options.upstreamProxy) return connectThroughProxy(options.upstreamProxy, host, port, options.limits);
    return connectTo(await checkedAddresses(host, options), port, options.limits, relay);
  };
}

async function checkedAddresses(host: string, options: DialerOptions): Promise<readonly string[]> {
  const addresses = await within(options.limits.resolveMs, options.resolve(host)).catch((error: unknown) => {
    throw dialFailure("unresolvable", `The name ${host} could not be resolved: ${messageOf(error)}.`);
  });
  if (addresses.length === 0) throw dialFailure("unresolvable", `The name ${host} has no address.`);
  for (const address of addresses) {
    const range = options.isForbidden(address);
    // SECURITY: one forbidden address among good ones is how a name is rebound, so it condemns them all.
    if (range !== undefined) {
      throw dialFailure(
        "forbidden_range",
        `The name ${host} leads to ${address} (${range}), which no box may reach.`,
      );
    }
  }
  return addresses;
}

async function connectTo(
  addresses: readonly string[],
  port: number,
  limits: GateLimits,
  relay: Relay | undefined,
): Promise<Socket> {
  const endMs = performance.now() + limits.connectMs;
  let last: unknown;
  for (const address of addresses) {
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) break;
    const isLast = address === addresses.at(-1);
    try {
      const attemptMs = isLast ? leftMs : Math.min(leftMs, limits.connectAttemptMs);
      return await connectOnce(address, port, attemptMs, relay);
    } catch (error) {
      last = error;
    }
  }
  throw dialFailure("unreachable", `No connection to port ${port}: ${messageOf(last)}.`);
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(dialFailure("unresolvable", "no answer in time")), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
