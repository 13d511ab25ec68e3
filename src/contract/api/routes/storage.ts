import type { Route } from "../route.ts";

export const storageRoutes = {
  getDisk: {
    method: "GET",
    path: "/v1/disk",
    summary: "What boxes and what they share take on the disk.",
    response: "DiskAnswer",
    scope: "read",
    reach: "host",
    harms: ["see"],
  },
  prune: {
    method: "POST",
    path: "/v1/prune",
    summary: "Remove stopped boxes.",
    body: "PruneBody",
    response: "PruneAnswer",
    isSlow: true,
    scope: "host",
    reach: "host",
    harms: ["rule"],
  },
} as const satisfies Record<string, Route>;
