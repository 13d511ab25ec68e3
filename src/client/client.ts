/** The typed client of the daemon's API: one method a route, types from the contract. Runs in a browser, too. */
import { omitUndefined } from "../base/omit-undefined.ts";
import { errorFromAnswer } from "./transport.ts";
import type {
  AttachRequest,
  CreateBoxInput,
  ExecRequestInput,
  FilesRequest,
  InstallStep,
} from "../contract/api/schemas.ts";
import type { BuildStep } from "../contract/image.ts";
import type { RouteBodyInput, RouteName, RouteResponse, Routes } from "../contract/api/routes.ts";
import type { BoxEvent } from "../contract/events.ts";
import type { Call, Stream, Transport } from "./transport.ts";

type Query = Record<string, string | number | boolean | undefined>;
type Project = RouteBodyInput<"askTrust">;

export interface LogsOptions {
  readonly source?: string;
  readonly tail?: number | undefined;
  readonly follow?: boolean;
}

export interface EventsOptions {
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly box?: string | undefined;
  readonly type?: string | undefined;
  readonly limit?: number | undefined;
  readonly order?: "oldest" | "newest" | undefined;
}

export interface UsageOptions {
  readonly box?: string | undefined;
  readonly agent?: string | undefined;
  readonly projectDir?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly by?: "box" | "agent" | "project" | "model" | "day" | undefined;
}

export interface ReviewOptions {
  readonly against?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface PatchOptions extends ReviewOptions {
  readonly path?: string | undefined;
  readonly oldPath?: string | undefined;
  readonly context?: number | undefined;
}

export interface FileQuery {
  readonly path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

export interface EgressOptions {
  readonly after?: number | undefined;
  readonly box?: string | undefined;
  readonly host?: string | undefined;
  readonly verdict?: "allow" | "deny" | undefined;
  readonly limit?: number | undefined;
  readonly order?: "oldest" | "newest" | undefined;
}

function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

export type Client = ReturnType<typeof createClient>;

export function createClient(transport: Transport, options: { timeoutMs?: number } = {}) {
  const timeoutMs = options.timeoutMs ?? 120_000;

  const open = async (call: Call) => {
    const answer = await transport.call(call);
    if (answer.status >= 400) throw errorFromAnswer(await answer.text());
    return answer;
  };

  /** The route's name only picks the types; method and path must be its own, which a test checks. */
  const json = async <R extends RouteName>(
    _route: R,
    method: Routes[R]["method"],
    path: string,
    body?: unknown,
  ): Promise<RouteResponse<R>> => {
    const answer = await open({ method, path, body, timeoutMs });
    return JSON.parse(await answer.text()) as RouteResponse<R>;
  };

  const at = (box: string, rest = "") => `/v1/boxes/${encodeURIComponent(box)}${rest}`;
  const streamWith = async (path: string, first: unknown): Promise<Stream> => {
    const stream = await transport.stream(path);
    stream.sendText(JSON.stringify(first));
    return stream;
  };

  return {
    info: () => json("getInfo", "GET", "/v1/info"),
    ready: async () =>
      JSON.parse(
        await (await transport.call({ method: "GET", path: "/readyz" })).text(),
      ) as RouteResponse<"readyz">,
    openapi: () => json("openapi", "GET", "/openapi.json"),
    stopDaemon: () => json("stopDaemon", "POST", "/v1/daemon/stop", {}),
    doctor: () => json("getDoctor", "GET", "/v1/doctor"),

    listBoxes: async () => (await json("listBoxes", "GET", "/v1/boxes")).boxes,
    createBox: (body: CreateBoxInput) => json("createBox", "POST", "/v1/boxes", body),
    getBox: (box: string) => json("getBox", "GET", at(box)),
    exportBox: (box: string) => json("exportBox", "GET", at(box, "/container")),
    removeBox: (box: string, { force = false } = {}) =>
      json("removeBox", "DELETE", withQuery(at(box), { force })),
    startBox: (box: string) => json("startBox", "POST", at(box, "/start"), {}),
    stopBox: (box: string, body: { graceMs?: number } = {}) =>
      json("stopBox", "POST", at(box, "/stop"), body),
    restartBox: (box: string) => json("restartBox", "POST", at(box, "/restart"), {}),
    moveBox: (box: string, body: RouteBodyInput<"moveBox">) =>
      json("moveBox", "POST", at(box, "/move"), body),
    pauseBox: (box: string) => json("pauseBox", "POST", at(box, "/pause"), {}),
    resumeBox: (box: string) => json("resumeBox", "POST", at(box, "/resume"), {}),
    getStats: (box: string) => json("getStats", "GET", at(box, "/stats")),
    getResources: (box: string) => json("getResources", "GET", at(box, "/resources")),
    listSessions: (box: string) => json("listSessions", "GET", at(box, "/sessions")),
    startSession: (box: string, body: RouteBodyInput<"startSession">) =>
      json("startSession", "POST", at(box, "/sessions"), body),
    logs: async (box: string, query: LogsOptions, signal?: AbortSignal) =>
      (await open({ method: "GET", path: withQuery(at(box, "/logs"), { ...query }), signal })).chunks(),

    openLink: () => json("openLink", "POST", "/v1/web/link", {}),
    getMe: () => json("getMe", "GET", "/v1/me"),
    signOut: () => json("signOut", "POST", "/v1/me/sign-out", {}),
    listTokens: async () => (await json("listTokens", "GET", "/v1/tokens")).tokens,
    createToken: (body: RouteBodyInput<"createToken">) => json("createToken", "POST", "/v1/tokens", body),
    removeToken: (id: string) => json("removeToken", "DELETE", withQuery("/v1/tokens", { id })),
    listShares: async (box: string) => (await json("listShares", "GET", at(box, "/shares"))).shares,
    createShare: (box: string, body: RouteBodyInput<"createShare">) =>
      json("createShare", "POST", at(box, "/shares"), body),
    removeShare: (box: string, id: string) =>
      json("removeShare", "DELETE", withQuery(at(box, "/shares"), { id })),
    listSignIns: async () => (await json("listSignIns", "GET", "/v1/sign-ins")).signIns,
    endSignIn: (id: string) => json("endSignIn", "DELETE", withQuery("/v1/sign-ins", { id })),

    startRun: (box: string, body: RouteBodyInput<"startRun">) =>
      json("startRun", "POST", at(box, "/run"), body),
    sendMessage: (box: string, body: RouteBodyInput<"sendMessage">) =>
      json("sendMessage", "POST", at(box, "/send"), body),
    interruptAgent: (box: string) => json("interruptAgent", "POST", at(box, "/interrupt"), {}),
    getBudget: (box: string) => json("getBudget", "GET", at(box, "/budget")),
    raiseBudget: (box: string, body: RouteBodyInput<"raiseBudget">) =>
      json("raiseBudget", "POST", at(box, "/budget"), body),
    listModelRequests: async (query: { box?: string | undefined; after?: number; limit?: number }) =>
      (await json("listModelRequests", "GET", withQuery("/v1/usage/requests", { ...query }))).requests,
    getUsage: (query: UsageOptions) => json("getUsage", "GET", withQuery("/v1/usage", { ...query })),

    listAgents: async () => (await json("listAgents", "GET", "/v1/agents")).agents,
    /** Steps until the last one, which is `done` or `error`. Leaving the loop gives the installation up. */
    installAgent: (agent: string, body: RouteBodyInput<"installAgent">, signal?: AbortSignal) =>
      readLines<InstallStep>(
        open({ method: "POST", path: `/v1/agents/${encodeURIComponent(agent)}`, body, signal }),
      ),
    removeAgent: (agent: string, version?: string) =>
      json("removeAgent", "DELETE", withQuery(`/v1/agents/${encodeURIComponent(agent)}`, { version })),
    checkAgents: async () => (await json("checkAgents", "GET", "/v1/agents/check")).checks,

    getManifestSchema: () => json("getManifestSchema", "GET", "/v1/manifest/schema"),
    checkManifest: (body: RouteBodyInput<"checkManifest">) =>
      json("checkManifest", "POST", "/v1/manifest/check", body),
    listProjects: async () => (await json("listProjects", "GET", "/v1/projects")).projects,

    listImages: async () => (await json("listImages", "GET", "/v1/images")).images,
    /** Steps until the last one, which is `done` or `error`. Leaving the loop gives the build up. */
    buildImage: (body: RouteBodyInput<"buildImage">, signal?: AbortSignal) =>
      readLines<BuildStep>(open({ method: "POST", path: "/v1/images", body, signal })),
    removeImage: (name: string) => json("removeImage", "DELETE", withQuery("/v1/images", { name })),
    pruneImages: (body: RouteBodyInput<"pruneImages"> = {}) =>
      json("pruneImages", "POST", "/v1/images/prune", body),
    getSbom: async (name: string) =>
      (await json("getSbom", "GET", withQuery("/v1/images/sbom", { name }))).sbom,

    listCaches: async () => (await json("listCaches", "GET", "/v1/caches")).caches,
    saveCache: async (box: string) => (await json("saveCache", "POST", at(box, "/cache"))).cache,
    clearCache: (projectDir: string) => json("clearCache", "DELETE", withQuery("/v1/caches", { projectDir })),

    listCheckpoints: async (box: string) =>
      (await json("listCheckpoints", "GET", at(box, "/checkpoints"))).checkpoints,
    takeCheckpoint: async (box: string, body: RouteBodyInput<"takeCheckpoint"> = {}) =>
      (await json("takeCheckpoint", "POST", at(box, "/checkpoints"), body)).checkpoint,
    restoreCheckpoint: async (box: string, checkpoint: string) =>
      (await json("restoreCheckpoint", "POST", at(box, "/restore"), { checkpoint })).checkpoint,
    forkBox: (box: string, body: RouteBodyInput<"forkBox"> = {}) =>
      json("forkBox", "POST", at(box, "/fork"), body),
    getReview: (box: string, query: ReviewOptions = {}) =>
      json("getReview", "GET", withQuery(at(box, "/review"), { ...query })),
    patch: async (box: string, query: PatchOptions = {}) =>
      (await open({ method: "GET", path: withQuery(at(box, "/patch"), { ...query }) })).chunks(),
    noteLook: (box: string, body: RouteBodyInput<"noteLook">) =>
      json("noteLook", "POST", at(box, "/looks"), body),
    listComments: async (box: string) => (await json("listComments", "GET", at(box, "/comments"))).comments,
    addComment: async (box: string, body: RouteBodyInput<"addComment">) =>
      (await json("addComment", "POST", at(box, "/comments"), body)).comment,
    sendComments: (box: string) => json("sendComments", "POST", at(box, "/comments/send"), {}),
    resolveComment: async (box: string, id: number) =>
      (await json("resolveComment", "POST", at(box, `/comments/${id}/resolve`), {})).comment,
    runChecks: async (box: string) => {
      const answer = await open({ method: "POST", path: at(box, "/checks"), body: {} });
      return (JSON.parse(await answer.text()) as RouteResponse<"runChecks">).checks;
    },
    mergeWork: async (box: string, body: RouteBodyInput<"mergeWork">) =>
      (await json("mergeWork", "POST", at(box, "/merge"), body)).merge,
    pushWork: async (box: string, body: RouteBodyInput<"pushWork">) => {
      const answer = await open({ method: "POST", path: at(box, "/push"), body });
      return (JSON.parse(await answer.text()) as RouteResponse<"pushWork">).push;
    },
    undoMerge: async (body: RouteBodyInput<"undoMerge">) =>
      (await json("undoMerge", "POST", "/v1/merges/undo", body)).merge,
    discardWork: (box: string) => json("discardWork", "POST", at(box, "/discard"), {}),
    exportWork: (box: string, body: RouteBodyInput<"exportWork">) =>
      json("exportWork", "POST", at(box, "/export"), body),

    exec: (box: string, request: ExecRequestInput) => streamWith(at(box, "/exec"), request),
    attach: (box: string, session: string, request: AttachRequest) =>
      streamWith(at(box, `/sessions/${encodeURIComponent(session)}/attach`), request),
    files: (box: string, request: FilesRequest) => streamWith(at(box, "/files"), request),

    listFiles: (box: string, path = "") => json("listFiles", "GET", withQuery(at(box, "/tree"), { path })),
    readFile: async (box: string, query: FileQuery, signal?: AbortSignal) =>
      (await open({ method: "GET", path: withQuery(at(box, "/file"), { ...query }), signal })).chunks(),
    writeFile: (box: string, body: RouteBodyInput<"writeFile">) =>
      json("writeFile", "POST", at(box, "/file"), body),
    listPorts: async (box: string) => (await json("listPorts", "GET", at(box, "/ports"))).ports,
    openPreview: (box: string, port: number, agreed?: string) =>
      json("openPreview", "POST", at(box, "/preview"), { port, ...omitUndefined({ agreed }) }),

    listEvents: (query: EventsOptions) => json("listEvents", "GET", withQuery("/v1/events", { ...query })),
    followEvents: (query: EventsOptions, signal?: AbortSignal) =>
      readEventStream(
        open({ method: "GET", path: withQuery("/v1/events", { ...query, follow: true }), signal }),
      ),

    getPolicy: (box: string) => json("getPolicy", "GET", at(box, "/policy")),
    changePolicy: (box: string, body: RouteBodyInput<"changePolicy">) =>
      json("changePolicy", "POST", at(box, "/policy"), body),
    allowEgress: (box: string, body: RouteBodyInput<"allowEgress">) =>
      json("allowEgress", "POST", at(box, "/policy/allow"), body),
    explainPolicy: (box: string, body: RouteBodyInput<"explainPolicy">) =>
      json("explainPolicy", "POST", at(box, "/policy/explain"), body),
    learnPolicy: (box: string) => json("learnPolicy", "GET", at(box, "/policy/learned")),
    getNet: (box: string) => json("getNet", "GET", at(box, "/net")),
    listEgress: async (query: EgressOptions) =>
      (await json("listEgress", "GET", withQuery("/v1/egress", { ...query }))).records,
    listApprovals: async () => (await json("listApprovals", "GET", "/v1/approvals")).approvals,
    answerApproval: (id: number, body: RouteBodyInput<"answerApproval">) =>
      json("answerApproval", "POST", `/v1/approvals/${id}`, body),

    askTrust: (project: Project) => json("askTrust", "POST", "/v1/trust/ask", project),
    grantTrust: (project: Project & { digest: string }) => json("grantTrust", "POST", "/v1/trust", project),
    listTrust: async () => (await json("listTrust", "GET", "/v1/trust")).entries,
    revokeTrust: (projectDir: string, digest?: string) =>
      json("revokeTrust", "DELETE", withQuery("/v1/trust", { projectDir, digest })),
    getVault: () => json("getVault", "GET", "/v1/vault"),
    unlockVault: (passphrase: string) => json("unlockVault", "POST", "/v1/vault/unlock", { passphrase }),
    lockVault: () => json("lockVault", "POST", "/v1/vault/lock", {}),
    rekeyVault: (body: RouteBodyInput<"rekeyVault">) => json("rekeyVault", "POST", "/v1/vault/rekey", body),
    exportVault: async (passphrase: string) =>
      (await json("exportVault", "POST", "/v1/vault/export", { passphrase })).sealed,
    importVault: (body: RouteBodyInput<"importVault">) =>
      json("importVault", "POST", "/v1/vault/import", body),
    listSecrets: async () => (await json("listSecrets", "GET", "/v1/secrets")).secrets,
    addSecret: async (body: RouteBodyInput<"addSecret">) =>
      (await json("addSecret", "POST", "/v1/secrets", body)).secret,
    getSecret: (name: string) => json("getSecret", "GET", withQuery("/v1/secret", { name })),
    removeSecret: (name: string) => json("removeSecret", "DELETE", withQuery("/v1/secret", { name })),
    rotateSecret: async (body: RouteBodyInput<"rotateSecret">) =>
      (await json("rotateSecret", "POST", "/v1/secret/rotate", body)).secret,
    grantSecret: async (body: RouteBodyInput<"grantSecret">) =>
      (await json("grantSecret", "POST", "/v1/secret/grant", body)).grants,
    revokeSecret: (body: RouteBodyInput<"revokeSecret">) =>
      json("revokeSecret", "POST", "/v1/secret/revoke", body),
    secretAudit: async (query: { name?: string | undefined; box?: string | undefined; limit?: number }) =>
      (await json("secretAudit", "GET", withQuery("/v1/secret/audit", { ...query }))).records,
    testSecret: async (box: string, body: RouteBodyInput<"testSecret">) =>
      (await json("testSecret", "POST", at(box, "/secret-test"), body)).tests,
    listConnectionPresets: async () =>
      (await json("listConnectionPresets", "GET", "/v1/connections/presets")).presets,
    startConnection: (body: RouteBodyInput<"startConnection">) =>
      json("startConnection", "POST", "/v1/connections", body),
    getConnection: (id: string) => json("getConnection", "GET", `/v1/connections/${encodeURIComponent(id)}`),
    keepLogin: async (body: RouteBodyInput<"keepLogin">) =>
      (await json("keepLogin", "POST", "/v1/logins", body)).secret,
    verifyAudit: (query: { head?: string | undefined } = {}) =>
      json("verifyAudit", "GET", withQuery("/v1/audit/verify", { ...query })),
    getDisk: () => json("getDisk", "GET", "/v1/disk"),
    prune: (body: RouteBodyInput<"prune">) => json("prune", "POST", "/v1/prune", body),
  };
}

/** One JSON document a line. */
async function* readLines<T>(opening: Promise<{ chunks(): AsyncIterable<Uint8Array> }>): AsyncGenerator<T> {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const chunk of (await opening).chunks()) {
    const lines = (pending + decoder.decode(chunk, { stream: true })).split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) if (line !== "") yield JSON.parse(line) as T;
  }
}

/** Server-sent events → our events. Comments (`: keep-alive`) are passed over. */
async function* readEventStream(
  opening: Promise<{ chunks(): AsyncIterable<Uint8Array> }>,
): AsyncGenerator<BoxEvent> {
  const answer = await opening;
  const decoder = new TextDecoder();
  let pending = "";
  for await (const chunk of answer.chunks()) {
    pending += decoder.decode(chunk, { stream: true });
    const blocks = pending.split("\n\n");
    pending = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (data) yield JSON.parse(data.slice(6)) as BoxEvent;
    }
  }
}
