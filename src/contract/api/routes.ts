/**
 * The HTTP API as data: the one place where a route is written down. The router, the check of who may use it, the
 * OpenAPI document and the client's methods are made from this table; only the handler is written besides.
 */
import { accessRoutes } from "./routes/access.ts";
import { agentRoutes } from "./routes/agents.ts";
import { boxRoutes } from "./routes/boxes.ts";
import { cacheRoutes } from "./routes/caches.ts";
import { daemonRoutes } from "./routes/daemon.ts";
import { fleetRoutes } from "./routes/fleet.ts";
import { formRoutes } from "./routes/forms.ts";
import { imageRoutes } from "./routes/images.ts";
import { networkRoutes } from "./routes/network.ts";
import { fileAndPortRoutes } from "./routes/files-and-ports.ts";
import { noticeRoutes } from "./routes/notices.ts";
import { queueRoutes } from "./routes/queue.ts";
import { removedRoutes } from "./routes/removed.ts";
import { reviewRoutes } from "./routes/review.ts";
import { storageRoutes } from "./routes/storage.ts";
import { streamRoutes } from "./routes/streams.ts";
import { trustRoutes } from "./routes/trust.ts";
import { vaultRoutes } from "./routes/vault.ts";
import type { BodyOf, QueryOf, ResponseOf, Route, RouteTable, SentBodyOf, SentQueryOf } from "./route.ts";

export const routes = {
  ...daemonRoutes,
  ...boxRoutes,
  ...accessRoutes,
  ...noticeRoutes,
  ...queueRoutes,
  ...agentRoutes,
  ...fileAndPortRoutes,
  ...reviewRoutes,
  ...removedRoutes,
  ...vaultRoutes,
  ...streamRoutes,
  ...networkRoutes,
  ...trustRoutes,
  ...fleetRoutes,
  ...formRoutes,
  ...imageRoutes,
  ...cacheRoutes,
  ...storageRoutes,
} as const;

export type Routes = RouteTable<typeof routes>;
export type RouteName = keyof Routes;
/** The same routes without their literal types, to look up any of them by name. */
export const routeTable: Readonly<Record<RouteName, Route>> = { ...routes };
export const routeNames = Object.keys(routes) as readonly RouteName[];

export type RouteQuery<R extends RouteName> = QueryOf<Routes[R]>;
export type RouteQueryInput<R extends RouteName> = SentQueryOf<Routes[R]>;
export type RouteBody<R extends RouteName> = BodyOf<Routes[R]>;
export type RouteBodyInput<R extends RouteName> = SentBodyOf<Routes[R]>;
export type RouteResponse<R extends RouteName> = ResponseOf<Routes[R]>;
