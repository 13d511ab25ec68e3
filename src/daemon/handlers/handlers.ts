/** One handler a route; a route without one does not compile. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { RouteBody, RouteName, RouteQuery, RouteResponse, Routes } from "../../contract/api/routes.ts";
import type { DoctorReport, Readiness } from "../../contract/api/schemas.ts";
import type { Box } from "../../contract/box.ts";
import type { Core } from "../../core/context.ts";
import { createBox } from "../../core/box/create-box.ts";
import { askTrust, grantTrust, revokeTrust } from "../../core/trust/grant-trust.ts";
import { allowToolchains } from "../../core/toolchains/find-toolchains.ts";
import { measureDisk } from "../../core/resources/measure-disk.ts";
import { exportBox } from "../../core/box/export-box.ts";
import { moveBox } from "../../core/box/move-box.ts";
import { resumeWithinBudget } from "../../core/budget/raise-budget.ts";
import { pauseBox } from "../../core/box/pause-box.ts";
import { restartBox } from "../../core/box/restart-box.ts";
import { getLink } from "../../core/exec/run-in-box.ts";
import { startBox } from "../../core/boot/start-box.ts";
import { startSession } from "../../core/exec/start-session.ts";
import { stopBox } from "../../core/box/stop-box.ts";
import { summariseBoxes } from "../../core/box/summarise-box.ts";
import { hideValues } from "../../core/access/hide-values.ts";
import type { Visibility } from "../../core/access/visibility.ts";
import { makerOf, ownerName, requireProject } from "../../core/team/members.ts";
import { listVisible, visibleNames } from "../../core/access/visible-records.ts";
import { streamEvents } from "../streams/event-stream.ts";
import { streamLogs } from "../streams/log-stream.ts";
import type { Metrics } from "../metrics.ts";
import { accessHandlers } from "./access-handlers.ts";
import { noticeHandlers } from "./notice-handlers.ts";
import { agentHandlers } from "./agent-handlers.ts";
import { cacheHandlers } from "./cache-handlers.ts";
import { formHandlers } from "./form-handlers.ts";
import { fleetHandlers } from "./fleet-handlers.ts";
import { imageHandlers } from "./image-handlers.ts";
import { networkHandlers } from "./network-handlers.ts";
import { openApiDocument } from "../openapi.ts";
import { fileAndPortHandlers } from "./file-and-port-handlers.ts";
import type { Previews } from "../preview/previews.ts";
import { queueHandlers } from "./queue-handlers.ts";
import { removedHandlers } from "./removed-handlers.ts";
import { reviewHandlers } from "./review-handlers.ts";
import { mayWorkIn, requireAsIsolated } from "./require-access.ts";
import type { StreamRoute } from "../streams/streams.ts";
import { vaultHandlers } from "./vault-handlers.ts";
import type { WebPort } from "../web/listen.ts";

export interface HandlerDeps {
  readonly core: Core;
  readonly metrics: Metrics;
  readonly version: string;
  readonly startedAtMs: number;
  readonly home: string;
  readonly doctor: () => Promise<DoctorReport>;
  readonly requestStop: () => void;
  readonly web: WebPort;
  /** Ports of boxes, under names of their own. */
  readonly previews: Previews;
}

export interface Request<Q = unknown, B = unknown> {
  readonly deps: HandlerDeps;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
  /** Who asks, and what they see. The role on {box} has been checked when a handler runs. */
  readonly access: Visibility;
}

/** A route with another media than JSON writes its answer itself and returns nothing. */
type Result<R extends RouteName> = Routes[R] extends { media: string } ? void : RouteResponse<R> | undefined;
export type Handlers = {
  [R in Exclude<RouteName, StreamRoute>]: (
    request: Request<RouteQuery<R>, RouteBody<R>>,
  ) => Promise<Result<R>>;
};

const lifeOf = ({ name, incarnation }: Box) => ({ box: name, incarnation });

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

export const handlers: Handlers & Partial<Record<StreamRoute, () => Promise<void>>> = {
  livez: async () => ({}),
  async readyz({ deps, response }) {
    const result = await readiness(deps);
    if (!result.isReady) response.statusCode = 503;
    return result;
  },
  async metrics({ deps, response }) {
    const text = await deps.metrics.render();
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
    response.end(text);
  },
  openapi: async ({ deps }) => openApiDocument(deps.version),

  getInfo: async ({ deps, access }) => ({
    version: deps.version,
    pid: access.isOfHost ? process.pid : 0,
    home: access.isOfHost ? deps.home : "",
    startedAtMs: deps.startedAtMs,
    apiVersion: 1,
    boxes: (await visibleNames(deps.core, access)).length,
  }),
  async stopDaemon({ deps, response }) {
    response.on("finish", () => deps.requestStop());
    return {};
  },
  getDoctor: ({ deps }) => deps.doctor(),

  async listBoxes({ deps: { core }, access }) {
    const all = await core.ports.store.listBoxes();
    const roleOn = (box: Box) => access.roleOnLife(lifeOf(box));
    const seen = all.filter((box) => roleOn(box) !== undefined);
    const boxes = await summariseBoxes(core, seen);
    return {
      boxes: boxes.map((summary, index) => ({
        ...summary,
        ...ownerName(core, seen[index]!),
        role: roleOn(seen[index]!),
      })),
    };
  },
  async createBox({ deps: { core }, body, access }) {
    await requireProject(core, access, body);
    return createBox(core, body, makerOf(access));
  },
  async getBox({ deps, params, access }) {
    const { core } = deps;
    const box = await core.getBox(params["box"]!);
    const live = core.live.get(box.name);
    // Records can be read while the runtime is away.
    const runtime = await core.ports.runtimes.get(box.spec.runtime).catch(() => undefined);
    const status = await runtime?.find(box.name).catch(() => undefined);
    const { home, workspace } = core.ports.storage.dirs(box.name);
    return {
      box: mayWorkIn(access, box) ? box : hideValues(box),
      ...omitUndefined({ health: live?.link.lastHealth }),
      ...(status?.pid === undefined || !access.isOfHost ? {} : { pid: status.pid }),
      isConnected: live?.link.isConnected ?? false,
      paths: access.isOfHost ? { home, workspace } : { home: "", workspace: "" },
    };
  },
  exportBox: ({ deps, params }) => exportBox(deps.core, params["box"]!),
  startBox: async ({ deps, params }) => ({ box: await startBox(deps.core, params["box"]!) }),
  stopBox: async ({ deps, params, body }) => ({ box: await stopBox(deps.core, params["box"]!, body) }),
  restartBox: async ({ deps, params }) => ({ box: await restartBox(deps.core, params["box"]!) }),
  async moveBox({ deps: { core }, params, body, access }) {
    await requireAsIsolated(core, access, params["box"]!, body.runtime);
    return { box: await moveBox(core, params["box"]!, body) };
  },
  pauseBox: async ({ deps, params }) => ({ box: await pauseBox(deps.core, params["box"]!) }),
  resumeBox: async ({ deps, params }) => ({ box: await resumeWithinBudget(deps.core, params["box"]!) }),
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
      ...omitUndefined({ memoryLimitBytes: limit }),
      processes: usage?.processes ?? 0,
      diskBytes,
      ...omitUndefined({ idleMs }),
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

  async listEvents({ deps, query, headers, response, access }) {
    const { store } = deps.core.ports;
    if (query.box !== undefined && !access.isOfHost) await visibleNames(deps.core, access, query.box);
    const lastId = await store.lastEventId();
    if (!query.follow) {
      const { after, before, box, type, limit, order } = query;
      const page = { after, before, box, limit, newestFirst: order === "newest" };
      const events = await listVisible(deps.core, access, page, (one) => store.listEvents({ ...one, type }));
      return { events, lastId };
    }
    const resume = Number(headers["last-event-id"] ?? query.after ?? lastId);
    if (!Number.isSafeInteger(resume) || resume < 0) {
      throw new AgentBoxError("input.invalid", "Last-Event-ID is not the number of an event.");
    }
    const { box, type } = query;
    await streamEvents(deps.core, response, {
      after: resume,
      box,
      type,
      shows: (event) => access.shows(event),
    });
    return undefined;
  },

  allowToolchains: ({ deps, body }) => allowToolchains(deps.core, body),
  askTrust: ({ deps, body }) => askTrust(deps.core, body),
  grantTrust: ({ deps, body, access }) => grantTrust(deps.core, body, makerOf(access)),
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
  ...formHandlers,
  ...accessHandlers,
  ...noticeHandlers,
  ...queueHandlers,
  ...imageHandlers,
  ...cacheHandlers,
  ...fleetHandlers,
  ...networkHandlers,
  ...agentHandlers,
  ...fileAndPortHandlers,
  ...reviewHandlers,
  ...removedHandlers,
  ...vaultHandlers,
};
