import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/base/clock.ts";
import { AgentBoxError } from "../../src/base/errors.ts";
import type { AgentEntry } from "../../src/contract/agent.ts";
import { ModelKeys } from "../../src/core/agents/model-keys.ts";
import { type AccessRecords, AccessState } from "../../src/ports/access-records.ts";
import type { Images } from "../../src/ports/images.ts";
import type { Merges } from "../../src/ports/merge.ts";
import { openReviews } from "../../src/services/review/index.ts";
import type { ModelGateway } from "../../src/ports/model-gateway.ts";
import type { ToolStore } from "../../src/ports/tool-store.ts";
import { agents } from "../../src/agents/index.ts";
import type { CreateBoxInput } from "../../src/contract/api/schemas.ts";
import { CreateBox } from "../../src/contract/api/schemas.ts";
import { Core } from "../../src/core/context.ts";
import { createBox } from "../../src/core/box/create-box.ts";
import { linkReactions } from "../../src/core/box/link-reactions.ts";
import memoryStore from "../../src/drivers/store/memory/index.ts";
import { createMemoryModule } from "../../src/drivers/runtime/memory/index.ts";
import { systemClock, systemIds } from "../../src/host/clock.ts";
import { silentLogger } from "../../src/host/logger.ts";
import { openRuntimes } from "../../src/main/runtimes.ts";
import type { Gate } from "../../src/ports/gate.ts";
import type { Identity } from "../../src/ports/identity.ts";
import type { RuntimeModule } from "../../src/ports/runtime.ts";
import type { Store } from "../../src/ports/store.ts";
import type { NoticeSender } from "../../src/ports/notice-sender.ts";
import type { Connections } from "../../src/ports/connections.ts";
import type { Forges } from "../../src/ports/forge.ts";
import type { Vault } from "../../src/ports/vault.ts";
import { openBoxLogs } from "../../src/services/box-logs/index.ts";
import { openCaches } from "../../src/services/caches/index.ts";
import { openLinks } from "../../src/services/link/index.ts";
import { openStorage } from "../../src/services/storage/index.ts";
import { openWorkspaces } from "../../src/services/workspace/index.ts";
import { memoryVault, noConnections, noForges, noInjection, noSshKeys } from "./secrets.ts";

/** A wall clock that can be set, on top of the real one. */
export class SettableClock implements Clock {
  offsetMs = 0;
  nowMs = (): number => systemClock.nowMs() + this.offsetMs;
  monotonicMs = (): number => systemClock.monotonicMs();
  after = (ms: number, callback: () => void): (() => void) => systemClock.after(ms, callback);
}

const refuseSignIn = async (): Promise<never> => {
  throw new AgentBoxError("sign_in.off", "There is no provider here.");
};

/** A host at which no team signs in. */
const noIdentity: Identity = {
  begin: refuseSignIn,
  finish: refuseSignIn,
  recheck: async () => ({ outcome: "unknown", reason: "there is no provider" }),
  readLogoutNotice: refuseSignIn,
};

/** A gate that lets nothing through, for tests that are not about it. */
const closedGate: Gate = {
  setPolicy: () => undefined,
  drop: () => undefined,
  serve: (_box, { socket }) => void socket.destroy(),
  openHosts: () => [],
  closeInjected: () => undefined,
  trustFiles: [],
  boxEnv: {},
  [Symbol.asyncDispose]: async () => undefined,
};

const closedModels: ModelGateway = {
  setBox: () => undefined,
  drop: () => undefined,
  serve: (_box, _request, response) => void response.destroy(),
  upgrade: (_box, _request, socket) => void socket.destroy(),
  [Symbol.asyncDispose]: async () => undefined,
};

const refuseMerge = async (): Promise<never> => {
  throw new AgentBoxError("merge.failed", "There is nothing to merge into.");
};

const noMerges: Merges = {
  plan: refuseMerge,
  apply: refuseMerge,
  prepare: refuseMerge,
  tip: async () => undefined,
  preview: refuseMerge,
  keepBranch: refuseMerge,
  undo: refuseMerge,
  export: refuseMerge,
};

const notInstalled = (agent: string): never => {
  throw new AgentBoxError("tool.not_installed", `${agent} is not installed.`);
};

/** A host on which no agent has been installed. */
const emptyToolStore: ToolStore = {
  list: async () => [],
  install: async ({ agent }) => notInstalled(agent),
  use: async (agent) => notInstalled(agent),
  remove: async () => undefined,
  verify: async () => ({ isWhole: false }),
  pinned: async () => undefined,
  pin: async () => undefined,
  pinProject: async () => undefined,
  pinnedImage: async () => undefined,
  pinImage: async () => undefined,
};

const noEngine = async (): Promise<never> => {
  throw new AgentBoxError("runtime.absent", "There is no container engine here.");
};

/** A host without a container engine. */
const noImages: Images = {
  requireEngine: noEngine,
  find: noEngine,
  build: noEngine,
  resolve: noEngine,
  list: async () => [],
  remove: noEngine,
  sweep: async () => 0,
  sbom: noEngine,
};

/** Notices that go nowhere. */
const noNotices: NoticeSender = { send: async () => undefined };

/** Records of who may come in that end with the test. */
function memoryAccessRecords(): AccessRecords {
  let state = AccessState.parse({});
  return {
    get state() {
      return state;
    },
    async change(edit) {
      state = edit(state);
    },
  };
}

/** The parts that outlive a daemon: its disk, its store and the boxes themselves. */
export interface TestHost extends AsyncDisposable {
  readonly dir: string;
  readonly store: Store;
  readonly module: RuntimeModule;
  readonly clock: SettableClock;
}

export async function openTestHost(): Promise<TestHost> {
  const dir = await mkdtemp(join(tmpdir(), "abx-core-"));
  return {
    dir,
    store: await memoryStore.open(""),
    module: createMemoryModule(),
    clock: new SettableClock(),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

/** The daemon's core without its edges, on the memory runtime. Opening it twice on one host is a restart. */
export async function openTestCore(
  host: TestHost,
  options: {
    bootId?: string;
    agents?: Readonly<Record<string, AgentEntry>>;
    models?: ModelGateway;
    toolStore?: ToolStore;
    serverStore?: Pick<ToolStore, "install" | "use">;
    images?: Images;
    vault?: Vault;
    connections?: Connections;
    forges?: Forges;
    noticeSender?: NoticeSender;
    /** Variables of the host, such as keys of models; none without it. */
    hostVariable?: (name: string) => string | undefined;
    /** More runtimes beside the memory one, by name. */
    runtimes?: Readonly<Record<string, RuntimeModule>>;
  } = {},
): Promise<Core & AsyncDisposable> {
  const boxesDir = join(host.dir, "b");
  const storage = await openStorage({ boxesDir, isRoot: false });
  const runtimes = openRuntimes(
    Object.fromEntries(
      Object.entries({ memory: host.module, ...options.runtimes }).map(([name, module]) => [
        name,
        async () => module,
      ]),
    ),
    boxesDir,
  );
  const core = new Core(
    {
      store: host.store,
      accessRecords: memoryAccessRecords(),
      identity: noIdentity,
      storage,
      runtimes,
      agents: { ...agents, ...options.agents },
      agentProblems: [],
      refreshAgents: async () => undefined,
      models: options.models ?? closedModels,
      reviews: openReviews(),
      merges: noMerges,
      secretScan: { scan: async () => [] },
      noticeSender: options.noticeSender ?? noNotices,
      vault: options.vault ?? memoryVault(),
      injection: noInjection,
      connections: options.connections ?? noConnections,
      sshKeys: noSshKeys,
      forges: options.forges ?? noForges,
      modelKeys: new ModelKeys(options.hostVariable ?? (() => undefined)),
      toolStore: options.toolStore ?? emptyToolStore,
      serverStore: options.serverStore ?? emptyToolStore,
      images: options.images ?? noImages,
      caches: openCaches({ dir: join(host.dir, "caches"), isRoot: false, clock: host.clock }),
      workspaces: openWorkspaces({ isRoot: false, userHome: join(host.dir, "home"), agentboxHome: host.dir }),
      links: openLinks({ ids: systemIds, clock: systemClock, logger: silentLogger }),
      gate: closedGate,
      presets: { names: [], aliases: [], read: async (name) => ({ name, rules: [], unusable: [] }) },
      logs: openBoxLogs((box) => join(boxesDir, box, "logs")),
      tools: { node: process.execPath, boxd: host.dir },
      owners: { kind: "self", owner: { uid: process.getuid!(), gid: process.getgid!() } },
      toolchains: { find: async () => [], systemPath: async () => [] },
      host: {
        userHome: join(host.dir, "home"),
        agentboxHome: host.dir,
        bootId: options.bootId ?? "boot-1",
        realPath: async (path) => path,
        readProjectFile: async () => undefined,
        requireOwn: async () => undefined,
        readUserConfig: async () => undefined,
        listTemplates: async () => [],
        addTemplate: async () => undefined,
        readHostPolicy: async () => undefined,
      },
      clock: host.clock,
      ids: systemIds,
      report: () => undefined,
    },
    linkReactions,
  );
  return Object.assign(core, {
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...core.live.values()].map(({ link }) => link[Symbol.asyncDispose]()));
      core.live.clear();
      await core.backgroundEnded();
      await runtimes[Symbol.asyncDispose]();
    },
  });
}

export const createOn = (
  core: Core,
  request: Omit<CreateBoxInput, "flags"> & { flags?: Record<string, unknown> },
) =>
  createBox(core, CreateBox.parse({ ...request, flags: { runtime: { name: "memory" }, ...request.flags } }));

export async function eventTypes(core: Core, box?: string): Promise<string[]> {
  const events = await core.ports.store.listEvents({ limit: 1000, box });
  return events.map(({ type }) => type);
}
