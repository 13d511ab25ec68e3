/**
 * Connects to a judged name. The address that was checked is the address that is connected to: a name is resolved
 * once for each dial, every address it has is checked, and the connection is made by address.
 */
import { type Socket, connect } from "node:net";
import { AgentBoxError, messageOf } from "../../../base/errors.ts";
import type { Relay } from "../../../base/relay-buffers.ts";
import type { AddressException, DenyReason } from "../../../contract/network/policy.ts";
import type { GateLimits } from "../limits.ts";
import type { Resolve } from "./resolver.ts";
import { type UpstreamProxy, connectThroughProxy } from "./upstream-proxy.ts";

export interface Destination {
  readonly host: string;
  readonly port: number;
  /** Somebody opened this one address by name; it is dialed as it is written. */
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

/** Sockets whose bytes go straight on; nothing is to be read from them. */
const relayed = new WeakSet<Socket>();
export const isRelayed = (socket: Socket): boolean => relayed.has(socket);

export function connectOnce(host: string, port: number, timeoutMs: number, relay?: Relay): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const options = { host, port, allowHalfOpen: true, noDelay: true };
    const socket = connect(relay === undefined ? options : { ...options, onread: relay });
    if (relay !== undefined) {
      relayed.add(socket);
      // The server may speak at once, and nobody is there to take it before the two ends are joined.
      socket.pause();
    }
    const timer = setTimeout(
      () => socket.destroy(dialFailure("unreachable", `${host} did not answer in time`)),
      timeoutMs,
    );
    socket.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.removeAllListeners("error");
      // Whoever takes it listens too; until then an error must not end the process.
      socket.on("error", () => undefined);
      resolve(socket);
    });
  });
}

export function dialFailure(reason: DenyReason, message: string): AgentBoxError {
  return new AgentBoxError("egress.failed", message, { facts: { reason } });
}

/** Why a dial or an exchange with the server failed, for the record. */
export function failureReason(error: unknown): DenyReason {
  const reason = error instanceof AgentBoxError ? error.facts?.["reason"] : undefined;
  return typeof reason === "string" ? (reason as DenyReason) : "unreachable";
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(dialFailure("unresolvable", "no answer in time")), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
