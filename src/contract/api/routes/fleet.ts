import type { Route } from "../route.ts";

export const fleetRoutes = {
  getResources: {
    method: "GET",
    path: "/v1/boxes/{box}/resources",
    summary: "What a box has used lately: processor, memory, processes and disk.",
    response: "ResourcesAnswer",
    scope: "read",
    reach: "look",
    harms: ["see"],
  },
} as const satisfies Record<string, Route>;
