import type { Route } from "../route.ts";

export const removedRoutes = {
  readUnmerged: {
    method: "POST",
    path: "/v1/boxes/{box}/unmerged",
    summary:
      "What would be lost with a box: its work that has not been merged. A stopped box is started for it.",
    body: "Empty",
    response: "UnmergedAnswer",
    scope: "work",
    reach: "work",
    harms: ["use"],
    isSlow: true,
  },
  listRemoved: {
    method: "GET",
    path: "/v1/removed",
    summary: "Removed boxes whose work is kept, the newest first.",
    response: "ListRemovedAnswer",
    unwrap: "removed",
    scope: "read",
    reach: "member",
    harms: ["see"],
  },
  restoreRemoved: {
    method: "POST",
    path: "/v1/removed/{removed}/restore",
    summary: "Bring a removed box back, stopped, with the work that was kept of it.",
    body: "RestoreRemovedBody",
    response: "BoxAnswer",
    scope: "work",
    reach: "member",
    harms: ["make"],
    isSlow: true,
  },
  forgetRemoved: {
    method: "DELETE",
    path: "/v1/removed/{removed}",
    summary: "Delete the work that is kept of a removed box.",
    scope: "work",
    reach: "member",
    harms: ["destroy"],
  },
} as const satisfies Record<string, Route>;
