/** One handler a route; a route without one does not compile. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { AgentBoxError } from "../base/errors.ts";
import type { RouteBody, RouteName, RouteQuery, RouteResponse, Routes } from "../contract/api/routes.ts";
import type { BoxSummary, DoctorReport, Readiness } from "../contract/api/schemas.ts";
import type { Box } from "../contract/box.ts";
import type { Core } from "../core/context.ts";
import { createBox } from "../core/create-box.ts";
import { askTrust, grantTrust, revokeTrust } from "../core/grant-trust.ts";
import { measureDisk } from "../core/measure-disk.ts";
import { exportBox } from "../core/export-box.ts";
import { moveBox } from "../core/move-box.ts";
import { pauseBox, resumeBox } from "../core/pause-box.ts";
import { pruneBoxes } from "../core/prune-boxes.ts";
import { removeBox } from "../core/remove-box.ts";
import { restartBox } from "../core/restart-box.ts";
import { getLink } from "../core/run-in-box.ts";
import { startBox } from "../core/start-box.ts";
import { startSession } from "../core/start-session.ts";
import { stopBox } from "../core/stop-box.ts";
import { streamEvents } from "./event-stream.ts";
import { streamLogs } from "./log-stream.ts";
import type { Metrics } from "./metrics.ts";
import { agentHandlers } from "./agent-handlers.ts";
import { cacheHandlers } from "./cache-handlers.ts";
import { imageHandlers } from "./image-handlers.ts";
import { networkHandlers } from "./network-handlers.ts";
import { openApiDocument } from "./openapi.ts";
import { reviewHandlers } from "./review-handlers.ts";
import { runHandlers } from "./run-handlers.ts";
import type { StreamRoute } from "./streams.ts";
import { vaultHandlers } from "./vault-handlers.ts";

export interface HandlerDeps {
  readonly core: Core;
  readonly metrics: Metrics;
  readonly version: string;
  readonly startedAtMs: number;
  readonly home: string;
  readonly doctor: () => Promise<DoctorReport>;
  readonly requestStop: () => void;
}

export interface Request<Q = unknown, B = unknown> {
  readonly deps: HandlerDeps;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
}

/** A route with another media than JSON writes its answer itself and returns nothing. */
type Result<R extends RouteName> = Routes[R] extends { media: string } ? void : RouteResponse<R> | undefined;
export type Handlers = {
  [R in Exclude<RouteName, StreamRoute>]: (
    request: Request<RouteQuery<R>, RouteBody<R>>,
  ) => Promise<Result<R>>;
};

const summarise = ({
  name,
  state,
  spec,
  projectDir,
  createdAtMs,
  expiresAtMs,
  restarts,
  run,
}: Box): BoxSummary => ({
  name,
  phase: state.phase,
  ...("reason" in state ? { reason: state.reason } : {}),
  ...(state.phase === "stopped" && state.exitCode !== undefined ? { exitCode: state.exitCode } : {}),
  agent: spec.agent.name,
  runtime: spec.runtime,
  ...(projectDir === undefined ? {} : { projectDir }),
  createdAtMs,
  sinceMs: state.sinceMs,
  ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  restarts,
  ...(run === undefined ? {} : { agentState: run.state }),
  ...(run?.verdict === undefined ? {} : { verdict: run.verdict }),
});

async function readiness({ core, doctor }: HandlerDeps): Promise<Readiness> {
  const { runtimes, home } = await doctor();
  const usable = runtimes.filter(({ name, status }) => status === "ready" && name !== "memory");
  const missing = runtimes
    .filter(({ status }) => status !== "ready")
    .map(({ name, detail }) => `${name}: ${detail}`);
  const checks = [
    { name: "store", ok: (await core.ports.store.lastEventId()) >= 0, detail: "the store answers" },
    {
      name: "runtime",
      ok: usable.length > 0,
      detail: usable.length > 0 ? usable.map(({ name }) => name).join(", ") : missing.join("; "),
    },
    { name: "disk", ok: home.freeBytes > 256 * 2 ** 20, detail: home.detail },
  ];
  return { isReady: checks.every(({ ok }) => ok), checks };
}

async function answerReadiness({ deps, response }: Request): Promise<Readiness> {
  const result = await readiness(deps);
  if (!result.isReady) response.statusCode = 503;
  return result;
}

export const handlers: Handlers & Partial<Record<StreamRoute, () => Promise<void>>> = {
  livez: async () => ({}),
  readyz: answerReadiness,
  healthz: answerReadiness,
  async metrics({ deps, response }) {
    const text = await deps.metrics.render();
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(text);
  },
  openapi: async ({ deps }) => openApiDocument(deps.version),

  getInfo: async ({ deps }) => ({
    version: deps.version,
    pid: process.pid,
    home: deps.home,
    startedAtMs: deps.startedAtMs,
    apiVersion: 1,
    boxes: (await deps.core.ports.store.listBoxes()).length,
  }),
  async stopDaemon({ deps, response }) {
    response.on("finish", () => deps.requestStop());
    return {};
  },
  getDoctor: ({ deps }) => deps.doctor(),

  listBoxes: async ({ deps }) => ({ boxes: (await deps.core.ports.store.listBoxes()).map(summarise) }),
  createBox: ({ deps, body }) => createBox(deps.core, body),
  async getBox({ deps, params }) {
    const { core } = deps;
    const box = await core.getBox(params["box"]!);
    const live = core.live.get(box.name);
    // A runtime that is away keeps nobody from looking at what is written down.
    const runtime = await core.ports.runtimes.get(box.spec.runtime).catch(() => undefined);
    const status = await runtime?.find(box.name).catch(() => undefined);
    const { home, workspace } = core.ports.storage.dirs(box.name);
    return {
      box,
      ...(live?.link.lastHealth ? { health: live.link.lastHealth } : {}),
      ...(status?.pid === undefined ? {} : { pid: status.pid }),
      isConnected: live?.link.isConnected ?? false,
      paths: { home, workspace },
    };
  },
  exportBox: ({ deps, params }) => exportBox(deps.core, params["box"]!),
  async removeBox({ deps, params, query }) {
    await removeBox(deps.core, params["box"]!, query);
    return {};
  },
  startBox: async ({ deps, params }) => ({ box: await startBox(deps.core, params["box"]!) }),
  stopBox: async ({ deps, params, body }) => ({ box: await stopBox(deps.core, params["box"]!, body) }),
  restartBox: async ({ deps, params }) => ({ box: await restartBox(deps.core, params["box"]!) }),
  moveBox: async ({ deps, params, body }) => ({ box: await moveBox(deps.core, params["box"]!, body) }),
  pauseBox: async ({ deps, params }) => ({ box: await pauseBox(deps.core, params["box"]!) }),
  resumeBox: async ({ deps, params }) => ({ box: await resumeBox(deps.core, params["box"]!) }),
  async getStats({ deps, params }) {
    const { core } = deps;
    const box = await core.getBox(params["box"]!);
    const runtime = await core.ports.runtimes.get(box.spec.runtime);
    const [usage, diskBytes] = await Promise.all([
      runtime.usage(box.name),
      core.ports.storage.usage(box.name),
    ]);
    const limit = box.spec.resources.memoryBytes;
    const idleMs = core.live.get(box.name)?.link.lastHealth?.idleMs;
    return {
      name: box.name,
      cpuMs: usage?.cpuMs ?? 0,
      memoryBytes: usage?.memoryBytes ?? 0,
      ...(limit === undefined ? {} : { memoryLimitBytes: limit }),
      processes: usage?.processes ?? 0,
      diskBytes,
      ...(idleMs === undefined ? {} : { idleMs }),
      atMs: core.ports.clock.nowMs(),
    };
  },
  getLogs: ({ deps, params, query, response }) => streamLogs(deps.core, response, params["box"]!, query),
  async listSessions({ deps, params }) {
    const { link } = await getLink(deps.core, params["box"]!);
    const { sessions, services } = await link.health();
    return { sessions, services };
  },
  startSession: async ({ deps, params, body }) => ({
    session: await startSession(deps.core, params["box"]!, body),
  }),

  async listEvents({ deps, query, headers, response }) {
    const { store } = deps.core.ports;
    const lastId = await store.lastEventId();
    if (!query.follow) {
      const { after, box, type, limit, order } = query;
      return {
        events: [...(await store.listEvents({ after, box, type, limit, newestFirst: order === "newest" }))],
        lastId,
      };
    }
    const resume = Number(headers["last-event-id"] ?? query.after ?? lastId);
    if (!Number.isSafeInteger(resume) || resume < 0) {
      throw new AgentBoxError("input.invalid", "Last-Event-ID is not the number of an event.");
    }
    await streamEvents(deps.core, response, { after: resume, box: query.box, type: query.type });
    return undefined;
  },

  askTrust: ({ deps, body }) => askTrust(deps.core, body),
  grantTrust: ({ deps, body }) => grantTrust(deps.core, body),
  listTrust: async ({ deps }) => ({
    entries: (await deps.core.ports.store.listTrust()).map((entry) => ({
      ...entry,
      requests: [...entry.requests],
    })),
  }),
  async revokeTrust({ deps, query }) {
    await revokeTrust(deps.core, query);
    return {};
  },
  getDisk: ({ deps }) => measureDisk(deps.core),
  prune: ({ deps, body }) => pruneBoxes(deps.core, body),
  ...imageHandlers,
  ...cacheHandlers,
  ...networkHandlers,
  ...runHandlers,
  ...agentHandlers,
  ...reviewHandlers,
  ...vaultHandlers,
};
