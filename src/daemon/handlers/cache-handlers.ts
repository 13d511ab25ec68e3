/** Handlers of the package caches that projects keep. */
import type { cacheRoutes } from "../../contract/api/routes/caches.ts";
import { clearCache } from "../../core/caches/clear-cache.ts";
import { saveCache } from "../../core/caches/save-cache.ts";
import type { Handlers } from "./handlers.ts";

export const cacheHandlers: Pick<Handlers, keyof typeof cacheRoutes> = {
  listCaches: async ({ deps }) => ({ caches: [...(await deps.core.ports.caches.list())] }),
  saveCache: async ({ deps, params }) => ({ cache: await saveCache(deps.core, params["box"]!) }),
  clearCache: async ({ deps, query }) => {
    await clearCache(deps.core, query.projectDir);
    return {};
  },
};
