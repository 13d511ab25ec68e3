/** Handlers of the package caches that projects keep. */
import type { RouteName } from "../contract/api/routes.ts";
import { clearCache } from "../core/caches/clear-cache.ts";
import { saveCache } from "../core/caches/save-cache.ts";
import type { Handlers } from "./handlers.ts";

type CacheRoute = Extract<RouteName, "listCaches" | "saveCache" | "clearCache">;

export const cacheHandlers: Pick<Handlers, CacheRoute> = {
  listCaches: async ({ deps }) => ({ caches: [...(await deps.core.ports.caches.list())] }),
  saveCache: async ({ deps, params }) => ({ cache: await saveCache(deps.core, params["box"]!) }),
  clearCache: async ({ deps, query }) => {
    await clearCache(deps.core, query.projectDir);
    return {};
  },
};
