/** The service behind ports/connections.ts. */
import type { Clock, Ids } from "../../base/clock.ts";
import type { Logger } from "../../host/logger.ts";
import type { Connections, TokenKeeper } from "../../ports/connections.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { HostConnections } from "./connections.ts";

export interface ConnectionsOptions {
  readonly keeper: TokenKeeper;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ids: Ids;
  /** Which addresses without TLS are right, besides those of this host. None unless told. */
  readonly allowInsecure?: (url: URL) => boolean;
}

export function openConnections({ allowInsecure = () => false, ...rest }: ConnectionsOptions): Connections {
  return new HostConnections({ ...rest, allowInsecure, fetch: boundedFetch(allowInsecure) });
}
