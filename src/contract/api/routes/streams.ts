import type { Route } from "../route.ts";

export const streamRoutes = {
  exec: {
    method: "GET",
    path: "/v1/boxes/{box}/exec",
    summary: "Run a command; the first message is an ExecRequest.",
    media: "websocket",
    opens: "ExecRequest",
    scope: "work",
    reach: "work",
    harms: ["use"],
  },
  attach: {
    method: "GET",
    path: "/v1/boxes/{box}/sessions/{session}/attach",
    summary: "Join a terminal session; the first message is an AttachRequest.",
    media: "websocket",
    opens: "AttachRequest",
    // A caller who may only look gets a terminal that takes no keys.
    scope: "read",
    reach: "look",
    harms: ["see"],
  },
  files: {
    method: "GET",
    path: "/v1/boxes/{box}/files",
    summary: "Copy files in or out; the first message is a FilesRequest.",
    media: "websocket",
    opens: "FilesRequest",
    // Any path of the box, its home and what it holds there included.
    scope: "work",
    reach: "work",
    harms: ["use"],
  },
  connectPort: {
    method: "GET",
    path: "/v1/boxes/{box}/port",
    summary: "One TCP connection to a port of the box; the first message is a ConnectPortRequest.",
    media: "websocket",
    opens: "ConnectPortRequest",
    scope: "work",
    reach: "work",
    harms: ["use"],
  },
  listEvents: {
    method: "GET",
    path: "/v1/events",
    summary: "The event log; with follow, as server-sent events that resume from Last-Event-ID.",
    query: "EventFilter",
    response: "EventPage",
    scope: "read",
    reach: "visible",
    harms: ["see"],
  },
} as const satisfies Record<string, Route>;
