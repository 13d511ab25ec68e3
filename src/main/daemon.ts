/** Puts the daemon together: the one place where ports meet their implementations. */
import { once } from "node:events";
import { readFile, realpath, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import { Core, type HostFacts, type Owners } from "../core/context.ts";
import { linkReactions } from "../core/box/link-reactions.ts";
import { decideSafely } from "../core/policy/decide-egress.ts";
import { reconcile } from "../core/box/reconcile.ts";
import { startTask } from "../core/queue/start-task.ts";
import { watchLifetimes } from "../core/box/watch-lifetimes.ts";
import { openMetrics } from "../daemon/metrics.ts";
import { Previews } from "../daemon/preview/previews.ts";
import { createApiServer, type ServerDeps } from "../daemon/server.ts";
import { createWebPort, openAtStart } from "../daemon/web/listen.ts";
import { systemClock, systemIds } from "../host/clock.ts";
import { acquireDaemonLock } from "../host/daemon-lock.ts";
import { type HostEnv, inheritedEnv, readHostEnv, readHostVariable } from "../host/env.ts";
import { forbidCoreDumps } from "../host/core-dumps.ts";
import { type Home, openHome } from "../host/home.ts";
import { type Logger, openLogger } from "../host/logger.ts";
import { readUserRange } from "../host/user-range.ts";
import { readOwnPrices } from "../core/budget/own-prices.ts";
import { findModelKey } from "../core/agents/find-model-key.ts";
import { ModelKeys } from "../core/agents/model-keys.ts";
import { modelHost } from "../contract/model/api.ts";
import { openTeamIdentity } from "./identity.ts";
import { openAccessRecords } from "../services/access-records/index.ts";
import { openForges } from "../services/forge/index.ts";
import { openCaches } from "../services/caches/index.ts";
import { openImages, type ImageEngine, imageEngine } from "../services/images/index.ts";
import { openNoticeSender } from "../services/notices/index.ts";
import { openMerges } from "../services/merge/index.ts";
import { openSecrets } from "./secrets.ts";
import { openReviews } from "../services/review/index.ts";
import { openSecretScan } from "../services/secret-scan/index.ts";
import { openModelGateway } from "../services/model-gateway/index.ts";
import { openToolStore } from "../services/tool-store/index.ts";
import { onceAMinute } from "../base/repeated-report.ts";
import { openBoxLogs } from "../services/box-logs/index.ts";
import { openGate } from "../services/gate/index.ts";
import { openLinks } from "../services/link/index.ts";
import { openPresets } from "../services/presets/index.ts";
import { openStorage } from "../services/storage/index.ts";
import { openToolchains } from "../services/toolchains/index.ts";
import { stageToolchain } from "../services/toolchain/index.ts";
import { openWorkspaces } from "../services/workspace/index.ts";
import { loadStore, runtimeModules } from "./builtins.ts";
import { openCatalogue } from "./catalogue.ts";
import { type DaemonOrders, openOrderFiles } from "./order-files.ts";
import { examineHost } from "./doctor.ts";
import { openRuntimes } from "./runtimes.ts";
import { version } from "../base/version.ts";
import { rememberSuccess } from "../base/remember-success.ts";

/** The engine that images are built in: opened when it is first needed, because its client is large, and once. */
function lazyImageEngine(): () => Promise<ImageEngine> {
  return rememberSuccess(async () => {
    const { openEngine } = await import("../host/engine/index.ts");
    return imageEngine((await openEngine()).client);
  });
}

/** How long a stop waits for work that nothing else waits for. */
const lastWritesMs = 2_000;

/** `boxdBuild` is the directory of the built boxd. */
export async function runDaemon(boxdBuild: URL): Promise<number> {
  // SECURITY: nothing this process makes is open to others unless a mode says so.
  process.umask(0o077);
  const env = readHostEnv();
  const logger = openLogger(env.logLevel);
  // One request that fails in an unexpected way must not take all the others with it.
  process.on("uncaughtException", (error) =>
    logger.error({ error: error.stack ?? error.message }, "uncaught exception"),
  );
  process.on("unhandledRejection", (reason) =>
    logger.error({ error: String(reason) }, "unhandled rejection"),
  );

  await forbidCoreDumps();
  const home = await openHome(env.agentboxHome, env);
  await using _lock = await acquireDaemonLock(home);
  await using store = await (await loadStore()).open(home.store);
  await using runtimes = openRuntimes(runtimeModules, home.boxes);
  const storage = await openStorage({
    boxesDir: home.boxes,
    isRoot: env.isRoot,
    shared: sharedDirectories(home),
  });
  const modelKeys = new ModelKeys(readHostVariable);
  await using models = openModelGateway({
    // As with the gate: what it asks, the core answers.
    listener: {
      admit: (request, signal) => core.modelListener.admit(request, signal),
      settle: (ticket, request, outcome) => core.modelListener.settle(ticket, request, outcome),
      progressed: (box) => core.modelListener.progressed(box),
      refused: (box, code, message) => core.modelListener.refused(box, code, message),
    },
    keyOf: (box, provider) => findModelKey(core, box, provider),
    upstreamProxy: env.upstreamProxy,
    clock: systemClock,
    logger,
  });
  await using secrets = await openSecrets({ home, env, logger }, () => core);
  await using gate = await openGate({
    decide: decideSafely,
    // The gate is a part of what the core is made from, and speaks to it only when boxes run.
    listener: {
      record: (record) => core.egressLog.add(record),
      ask: (request, signal) => core.approvals.askAsConfigured(request, signal),
    },
    clock: systemClock,
    logger,
    caDir: join(home.root, "ca"),
    upstreamProxy: env.upstreamProxy,
    dnsServer: env.dnsServer,
    internalHosts: new Map([[modelHost, models]]),
    injection: secrets.injection,
    sshKeys: secrets.sshKeys,
  });
  const orders = openOrderFiles(env, home);
  const catalogue = openCatalogue(join(home.root, "agents"), orders.own);
  await catalogue.refresh();
  const core: Core = new Core(
    {
      store,
      identity: openTeamIdentity(() => core),
      accessRecords: await openAccessRecords({ file: join(home.root, "access.json"), logger }),
      storage,
      runtimes,
      agents: catalogue.agents,
      agentProblems: catalogue.problems,
      refreshAgents: () => catalogue.refresh(),
      models,
      modelKeys,
      vault: secrets.vault,
      injection: secrets.injection,
      connections: secrets.connections,
      sshKeys: secrets.sshKeys,
      forges: openForges({ upstreamProxy: env.upstreamProxy }),
      reviews: openReviews(),
      merges: openMerges({ clock: systemClock, isRoot: env.isRoot, userHome: env.userHome }),
      secretScan: openSecretScan(),
      noticeSender: openNoticeSender({ upstreamProxy: env.upstreamProxy }),
      toolStore: openToolStore({
        dir: join(home.tools, "agents"),
        lockFile: join(home.root, "agentbox.lock"),
        orders: orders.projects,
        isRoot: env.isRoot,
        env: inheritedEnv(),
        clock: systemClock,
      }),
      serverStore: openToolStore({
        dir: join(home.tools, "mcp"),
        lockFile: join(home.tools, "mcp.lock"),
        orders: orders.projects,
        isRoot: env.isRoot,
        env: inheritedEnv(),
        clock: systemClock,
      }),
      images: openImages({
        dir: join(home.root, "images"),
        isRoot: env.isRoot,
        env: inheritedEnv(),
        clock: systemClock,
        engine: lazyImageEngine(),
      }),
      caches: openCaches({ dir: join(home.root, "caches"), isRoot: env.isRoot, clock: systemClock }),
      workspaces: openWorkspaces(env),
      gate,
      presets: openPresets(inheritedEnv()),
      links: openLinks({ ids: systemIds, clock: systemClock, logger }),
      logs: openBoxLogs((box) => join(home.boxes, box, "logs")),
      toolchains: openToolchains({ userHome: env.userHome, env: inheritedEnv() }),
      tools: await stageToolchain({
        toolsDir: home.tools,
        boxdSource: fileURLToPath(boxdBuild),
        nodeSource: await realpath(process.execPath),
        isRoot: env.isRoot,
      }),
      owners: await ownersOf(env),
      host: await hostFacts(env, home, orders),
      clock: systemClock,
      ids: systemIds,
      report: onceAMinute(systemClock, (facts, message) => logger.warn(facts, message)),
    },
    linkReactions,
  );
  core.background("reading the prices", readOwnPrices(core));
  await reconcile(core);
  await serve(core, home, logger, new URL("../web/", boxdBuild), () =>
    examineHost(runtimes, storage, home.root),
  );
  return 0;
}

/** The parts of `agentbox df` beside the boxes. */
const sharedDirectories = ({ root, tools, store, logs }: Home): Record<string, readonly string[]> => ({
  tools: [tools],
  images: [join(root, "images")],
  "project caches": [join(root, "caches")],
  "removed boxes": [join(root, "removed")],
  records: [store, `${store}-wal`, `${store}-shm`],
  vault: [join(root, "vault")],
  logs: [logs],
});

/** Serves until it is told to end. Boxes go on without it. */
async function serve(
  core: Core,
  home: Home,
  logger: Logger,
  webBuild: URL,
  doctor: () => ReturnType<typeof examineHost>,
): Promise<void> {
  const stopWatching = watchLifetimes(core);
  const stopAsking = core.team.watch();
  const stopRequest = new AbortController();
  const web = createWebPort(core, (listener) => createApiServer(serverDeps, listener));
  const serverDeps: ServerDeps = {
    core,
    logger,
    metrics: openMetrics(core),
    version,
    startedAtMs: Date.now(),
    home: home.root,
    doctor,
    requestStop: () => stopRequest.abort(),
    web,
    previews: new Previews(core, web),
    webBuild,
  };
  // Before the socket, so that a daemon that answers there has its dashboard back.
  await openAtStart(core, web);
  const stopQueue = core.queue.start((task, variables) => startTask(core, task, variables));
  const stopTelling = core.notices.start(() => (web.port === undefined ? undefined : web.url));
  const server = createApiServer(serverDeps, { kind: "socket" });
  // We hold the lock, so a socket that is here belongs to a daemon that is dead.
  await rm(home.socket, { force: true });
  server.listen(home.socket);
  await once(server, "listening");
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopRequest.abort());
  process.on("SIGHUP", () => undefined);
  logger.info({ home: home.root, pid: process.pid, version }, "daemon started");

  if (!stopRequest.signal.aborted) await once(stopRequest.signal, "abort");
  stopWatching();
  stopAsking();
  stopTelling();
  stopQueue();
  await core
    .note("daemon.stopped", undefined)
    .catch((error: unknown) => logger.error({ error: messageOf(error) }, "last event lost"));
  web.close();
  server.close();
  server.closeAllConnections();
  await rm(home.socket, { force: true });
  // Before the last decisions are written: what is open through the gate is recorded when it ends.
  await core.ports.gate[Symbol.asyncDispose]();
  await Promise.all([...core.live.values()].map(({ link }) => link[Symbol.asyncDispose]()));
  // What boxes said last is on its way to the disk.
  await Promise.race([core.backgroundEnded(), delay(lastWritesMs)]);
  await core.egressLog
    .flush()
    .catch((error: unknown) => logger.error({ error: messageOf(error) }, "last decisions lost"));
  logger.info({}, "daemon stopped");
}

const ownersOf = async (env: HostEnv): Promise<Owners> =>
  env.isRoot
    ? { kind: "range", ...(await readUserRange()) }
    : { kind: "self", owner: { uid: env.uid, gid: env.gid } };

async function hostFacts(env: HostEnv, home: Home, { facts }: DaemonOrders): Promise<HostFacts> {
  return {
    userHome: env.userHome,
    agentboxHome: home.root,
    bootId: (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim(),
    realPath: (path) => realpath(path).catch(() => undefined),
    ...facts,
  };
}
