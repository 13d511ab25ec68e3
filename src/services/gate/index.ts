/**
 * The gate on the host. It decides with the function it is given, so the policy is one pure function elsewhere, and
 * it reads nothing from a box but the bytes of its connections.
 */
import type { SecureContext } from "node:tls";
import type { Clock } from "../../base/clock.ts";
import { forbiddenRange } from "../../contract/network/address-ranges.ts";
import type { Logger } from "../../host/logger.ts";
import { readServerTrust } from "../../host/server-trust.ts";
import type { Gate, GateListener, InternalHost } from "../../ports/gate.ts";
import type { Injection } from "../../ports/injection.ts";
import type { SshKeys } from "../../ports/ssh-keys.ts";
import { boxEnv } from "../../contract/network/box-env.ts";
import type { DecideEgress } from "./box/box-egress.ts";
import { openCertificateAuthority } from "./certificates/certificate-authority.ts";
import { openDialer } from "./servers/dialer.ts";
import { HostGate } from "./gate.ts";
import { watchHostAddresses } from "./servers/host-addresses.ts";
import { LeafContexts } from "./certificates/leaf-contexts.ts";
import { type GateLimits, gateLimits } from "./limits.ts";
import { openPaces } from "./box/pace.ts";
import { type Resolve, remembering, resolveWith, systemResolve } from "./servers/resolver.ts";
import { writeTrustFiles } from "./certificates/trust-files.ts";
import { parseUpstreamProxy } from "./servers/upstream-proxy.ts";

export type { DecideEgress } from "./box/box-egress.ts";

export interface GateOptions {
  readonly decide: DecideEgress;
  readonly listener: GateListener;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where the certificate authority lives; the directory above lets boxes pass through to the bundle. */
  readonly caDir: string;
  readonly limits?: Partial<GateLimits> | undefined;
  /** `http://[user:password@]host:port` of a company's proxy that everything must go through. */
  readonly upstreamProxy?: string | undefined;
  /** A DNS server in place of the host's own way of resolving, as `address` or `address:port`. */
  readonly dnsServer?: string | undefined;
  readonly resolve?: Resolve | undefined;
  readonly hostAddresses?: (() => readonly string[]) | undefined;
  /** Which range forbids an address. Only tests, whose servers are on loopback, give another than the default. */
  readonly isForbidden?: ((address: string) => string | undefined) | undefined;
  /** The authorities that servers must be signed by. Default: those that the host trusts. */
  readonly serverTrust?: SecureContext | undefined;
  /** Hosts that the gate serves itself, by canonical name. They are judged like others, and never resolved or dialed. */
  readonly internalHosts?: ReadonlyMap<string, InternalHost> | undefined;
  /** Puts secrets into requests; absent: no box has any. */
  readonly injection?: Injection | undefined;
  /** Signs for boxes over ssh; absent: none has a key. */
  readonly sshKeys?: SshKeys | undefined;
}

export async function openGate(options: GateOptions): Promise<Gate> {
  const { clock, logger, caDir } = options;
  const limits: GateLimits = { ...gateLimits, ...options.limits };
  const authority = await openCertificateAuthority(caDir, clock);
  const trustFiles = await writeTrustFiles(caDir, authority, logger);
  const ownAddresses = options.hostAddresses ?? watchHostAddresses(clock);
  const resolve = options.resolve ?? (options.dnsServer ? resolveWith(options.dnsServer) : systemResolve);
  const dial = openDialer({
    resolve: remembering(resolve, clock),
    isForbidden: options.isForbidden ?? ((address) => forbiddenRange(address, ownAddresses())),
    limits,
    upstreamProxy:
      options.upstreamProxy === undefined ? undefined : parseUpstreamProxy(options.upstreamProxy),
  });
  return new HostGate({
    decide: options.decide,
    listener: options.listener,
    clock,
    logger,
    limits,
    openPace: openPaces(clock, limits),
    internalHosts: options.internalHosts ?? new Map(),
    injection: options.injection,
    sshKeys: options.sshKeys,
    dial,
    leaves: new LeafContexts(authority, clock, limits.leafCertificates),
    serverTrust: options.serverTrust ?? (await readServerTrust([])),
    trustFiles,
    boxEnv,
  });
}
