import type { Route } from "../route.ts";

export const cacheRoutes = {
  listCaches: {
    method: "GET",
    path: "/v1/caches",
    summary: "Package caches that projects keep, the newest first.",
    response: "ListCachesAnswer",
    unwrap: "caches",
    scope: "read",
    reach: "host",
    harms: ["see"],
  },
  saveCache: {
    method: "POST",
    path: "/v1/boxes/{box}/cache",
    summary: "Keep the package caches of a stopped box for the next boxes of its project.",
    response: "SaveCacheAnswer",
    unwrap: "cache",
    scope: "work",
    reach: "host",
    harms: ["cache"],
  },
  clearCache: {
    method: "DELETE",
    path: "/v1/caches",
    summary: "Forget the package caches of a project.",
    query: "ClearCacheQuery",
    scope: "host",
    reach: "host",
    harms: ["rule"],
  },
} as const satisfies Record<string, Route>;
