/** The service behind ports/connections.ts. */
import type { Clock, Ids } from "../../base/clock.ts";
import type { Logger } from "../../host/logger.ts";
import type { Connections, TokenKeeper } from "../../ports/connections.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { HostConnections } from "./connections.ts";

/** The dependencies of every conversation with a sign-in service. */
export { type BoundedFetch, boundedFetch, checkAddress, requestTimeoutMs } from "./bounded-fetch.ts";
export { failureOf } from "./failure.ts";

export interface ConnectionsOptions {
  readonly keeper: TokenKeeper;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ids: Ids;
}

export const openConnections = (options: ConnectionsOptions): Connections =>
  new HostConnections({ ...options, fetch: boundedFetch() });
