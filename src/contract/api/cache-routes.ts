/** Routes about the package caches that projects keep. */
import { z } from "zod";
import { ProjectCache } from "../cache.ts";
import { type Route, none } from "./route.ts";

export const cacheRoutes = {
  listCaches: {
    method: "GET",
    path: "/v1/caches",
    summary: "Package caches that projects keep, the newest first.",
    response: z.object({ caches: z.array(ProjectCache) }),
  },
  saveCache: {
    method: "POST",
    path: "/v1/boxes/{box}/cache",
    summary: "Keep the package caches of a stopped box for the next boxes of its project.",
    response: z.object({ cache: ProjectCache }),
  },
  clearCache: {
    method: "DELETE",
    path: "/v1/caches",
    summary: "Forget the package caches of a project.",
    query: z.object({ projectDir: z.string().min(1).max(4_096) }),
    response: none,
  },
} as const satisfies Record<string, Route>;
