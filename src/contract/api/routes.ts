/**
 * The HTTP API as data. The daemon takes its handlers and the OpenAPI document from this table, so a route cannot
 * exist without a schema, a summary and a handler.
 */
import { z } from "zod";
import { accessRoutes } from "./access-routes.ts";
import { DiskAnswer } from "./disk.ts";
import { agentRoutes } from "./agent-routes.ts";
import { cacheRoutes } from "./cache-routes.ts";
import { fleetRoutes } from "./fleet-routes.ts";
import { formRoutes } from "./form-routes.ts";
import { imageRoutes } from "./image-routes.ts";
import { placeRoutes } from "./place-routes.ts";
import { reviewRoutes } from "./review-routes.ts";
import { vaultRoutes } from "./vault-routes.ts";
import { type Route, boxAnswer, empty, none } from "./route.ts";
import {
  BoxDetails,
  BoxStats,
  BoxSummary,
  CreateBox,
  CreatedBox,
  DoctorReport,
  EgressFilter,
  EventFilter,
  EventPage,
  ExplainRequest,
  Explanation,
  Info,
  NetAnswer,
  PolicyAnswer,
  PruneAnswer,
  Readiness,
  SessionList,
  StartSession,
  TrustEntry,
  TrustQuestion,
} from "./schemas.ts";
import { PortableContainer } from "../container.ts";
import { SessionStatus } from "../link/messages.ts";
import { AllowEgress, Approval, ApprovalAnswer, EgressRecord } from "../network/egress.ts";

export const routes = {
  livez: { method: "GET", path: "/livez", summary: "The process lives.", response: none },
  readyz: {
    method: "GET",
    path: "/readyz",
    summary: "Ready for work, or what is missing.",
    response: Readiness,
  },
  healthz: {
    method: "GET",
    path: "/healthz",
    summary: "The same as readyz, for older probes.",
    response: Readiness,
  },
  metrics: { method: "GET", path: "/metrics", summary: "Prometheus metrics.", response: none, media: "text" },
  openapi: {
    method: "GET",
    path: "/openapi.json",
    summary: "This API, as OpenAPI 3.1.",
    response: z.record(z.string(), z.unknown()),
  },

  getInfo: {
    method: "GET",
    path: "/v1/info",
    summary: "Version, process and home of the daemon.",
    response: Info,
  },
  stopDaemon: {
    method: "POST",
    path: "/v1/daemon/stop",
    summary: "Stop the daemon. Boxes go on without it.",
    body: empty,
    response: none,
  },
  getDoctor: {
    method: "GET",
    path: "/v1/doctor",
    summary: "Every runtime and program: ready, absent or broken, and the fix.",
    response: DoctorReport,
  },

  listBoxes: {
    method: "GET",
    path: "/v1/boxes",
    summary: "All boxes.",
    response: z.object({ boxes: z.array(BoxSummary) }),
  },
  createBox: {
    method: "POST",
    path: "/v1/boxes",
    summary: "Make a box.",
    body: CreateBox,
    response: CreatedBox,
  },
  getBox: {
    method: "GET",
    path: "/v1/boxes/{box}",
    summary: "Everything about a box.",
    response: BoxDetails,
  },
  exportBox: {
    method: "GET",
    path: "/v1/boxes/{box}/container",
    summary: "What of a box runs without AgentBox, as a container.",
    response: PortableContainer,
  },
  removeBox: {
    method: "DELETE",
    path: "/v1/boxes/{box}",
    summary: "Remove a box and its files.",
    query: z.object({ force: z.stringbool().default(false).describe("Also when it is running.") }),
    response: none,
  },
  startBox: {
    method: "POST",
    path: "/v1/boxes/{box}/start",
    summary: "Start a box.",
    body: empty,
    response: boxAnswer,
  },
  stopBox: {
    method: "POST",
    path: "/v1/boxes/{box}/stop",
    summary: "Ask the box to end, then make it.",
    body: z.strictObject({ graceMs: z.int().min(0).max(600_000).optional() }),
    response: boxAnswer,
  },
  restartBox: {
    method: "POST",
    path: "/v1/boxes/{box}/restart",
    summary: "Stop and start.",
    body: empty,
    response: boxAnswer,
  },
  moveBox: {
    method: "POST",
    path: "/v1/boxes/{box}/move",
    summary: "Make the box of another runtime; its files and its identity stay.",
    body: z.strictObject({ runtime: z.string().min(1).max(64) }),
    response: boxAnswer,
  },
  pauseBox: {
    method: "POST",
    path: "/v1/boxes/{box}/pause",
    summary: "Freeze all of it.",
    body: empty,
    response: boxAnswer,
  },
  resumeBox: {
    method: "POST",
    path: "/v1/boxes/{box}/resume",
    summary: "Go on.",
    body: empty,
    response: boxAnswer,
  },
  getStats: { method: "GET", path: "/v1/boxes/{box}/stats", summary: "What a box uses.", response: BoxStats },
  getLogs: {
    method: "GET",
    path: "/v1/boxes/{box}/logs",
    summary: "Output of a session or service.",
    query: z.object({
      source: z.string().max(80).default("main").describe("`main`, another session, or `service:<name>`."),
      tail: z.coerce.number().int().min(0).max(1_000_000).optional().describe("Only the last lines."),
      follow: z.stringbool().default(false),
    }),
    response: none,
    media: "stream",
  },
  listSessions: {
    method: "GET",
    path: "/v1/boxes/{box}/sessions",
    summary: "Sessions and services of a running box.",
    response: SessionList,
  },
  startSession: {
    method: "POST",
    path: "/v1/boxes/{box}/sessions",
    summary: "Start a session that outlives its viewers.",
    body: StartSession,
    response: z.object({ session: SessionStatus }),
  },

  ...accessRoutes,
  ...agentRoutes,
  ...placeRoutes,
  ...reviewRoutes,
  ...vaultRoutes,

  exec: {
    method: "GET",
    path: "/v1/boxes/{box}/exec",
    summary: "Run a command; the first message is an ExecRequest.",
    response: none,
    media: "websocket",
  },
  attach: {
    method: "GET",
    path: "/v1/boxes/{box}/sessions/{session}/attach",
    summary: "Join a terminal session; the first message is an AttachRequest.",
    response: none,
    media: "websocket",
  },
  files: {
    method: "GET",
    path: "/v1/boxes/{box}/files",
    summary: "Copy files in or out; the first message is a FilesRequest.",
    response: none,
    media: "websocket",
  },

  listEvents: {
    method: "GET",
    path: "/v1/events",
    summary: "The event log; with follow, as server-sent events that resume from Last-Event-ID.",
    query: EventFilter,
    response: EventPage,
  },

  getPolicy: {
    method: "GET",
    path: "/v1/boxes/{box}/policy",
    summary: "The network policy in force.",
    response: PolicyAnswer,
  },
  changePolicy: {
    method: "POST",
    path: "/v1/boxes/{box}/policy",
    summary: "Put another network policy in force on a running box, from a manifest or flags.",
    body: CreateBox.pick({ projectDir: true, manifest: true, flags: true, trust: true }),
    response: PolicyAnswer,
  },
  allowEgress: {
    method: "POST",
    path: "/v1/boxes/{box}/policy/allow",
    summary: "Let a box, or all boxes of its project, reach what was denied: exactly that, and for a time.",
    body: AllowEgress,
    response: PolicyAnswer,
  },
  explainPolicy: {
    method: "POST",
    path: "/v1/boxes/{box}/policy/explain",
    summary: "Whether a request would pass, which rule says so, and how to change that.",
    body: ExplainRequest,
    response: Explanation,
  },
  learnPolicy: {
    method: "GET",
    path: "/v1/boxes/{box}/policy/learned",
    summary: "A minimal policy for what the box has wanted so far, to paste.",
    response: z.object({ toml: z.string() }),
  },
  getNet: {
    method: "GET",
    path: "/v1/boxes/{box}/net",
    summary: "Hosts a box has reached or wanted to.",
    response: NetAnswer,
  },
  listEgress: {
    method: "GET",
    path: "/v1/egress",
    summary: "Decisions of the gate.",
    query: EgressFilter,
    response: z.object({ records: z.array(EgressRecord) }),
  },
  listApprovals: {
    method: "GET",
    path: "/v1/approvals",
    summary: "Questions that wait for a person.",
    response: z.object({ approvals: z.array(Approval) }),
  },
  answerApproval: {
    method: "POST",
    path: "/v1/approvals/{approval}",
    summary: "Answer a question.",
    body: ApprovalAnswer,
    response: none,
  },

  askTrust: {
    method: "POST",
    path: "/v1/trust/ask",
    summary: "What a manifest asks for outside the workspace, and whether somebody has agreed.",
    body: CreateBox.pick({ projectDir: true, manifest: true }).required(),
    response: TrustQuestion,
  },
  grantTrust: {
    method: "POST",
    path: "/v1/trust",
    summary: "Agree to exactly what the digest names.",
    body: CreateBox.pick({ projectDir: true, manifest: true }).required().extend({ digest: z.string() }),
    response: TrustEntry,
  },
  listTrust: {
    method: "GET",
    path: "/v1/trust",
    summary: "What has been agreed to.",
    response: z.object({ entries: z.array(TrustEntry) }),
  },
  revokeTrust: {
    method: "DELETE",
    path: "/v1/trust",
    summary: "Take an agreement back.",
    query: z.object({ projectDir: z.string(), digest: z.string().optional() }),
    response: none,
  },

  ...fleetRoutes,
  ...formRoutes,
  ...imageRoutes,
  ...cacheRoutes,
  getDisk: {
    method: "GET",
    path: "/v1/disk",
    summary: "What boxes and what they share take on the disk.",
    response: DiskAnswer,
  },
  prune: {
    method: "POST",
    path: "/v1/prune",
    summary: "Remove stopped boxes.",
    body: z.strictObject({
      olderThanMs: z.int().min(0).default(0),
      isDryRun: z.boolean().default(false),
    }),
    response: PruneAnswer,
  },
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;
export type RouteName = keyof Routes;
type Schema<R extends RouteName, K extends string> =
  Routes[R] extends Record<K, infer S extends z.ZodType> ? S : never;
export type RouteQuery<R extends RouteName> = z.output<Schema<R, "query">>;
export type RouteBody<R extends RouteName> = z.output<Schema<R, "body">>;
export type RouteBodyInput<R extends RouteName> = z.input<Schema<R, "body">>;
export type RouteResponse<R extends RouteName> = z.output<Schema<R, "response">>;
