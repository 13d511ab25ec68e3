/**
 * Core: the ports, the boxes that are live in this process, and one way to change state. It is put together once; a use
 * case takes the parts of it that it names (using.ts).
 */
import type { Clock, Ids } from "../base/clock.ts";
import { AgentBoxError } from "../base/errors.ts";
import { KeyedMutex } from "../base/mutex.ts";
import type { Share, SharedRate } from "../base/rate.ts";
import { Turns } from "../base/turns.ts";
import type { AgentEntry } from "../contract/agent.ts";
import type { Box, BoxOwner } from "../contract/box.ts";
import type { BoxEvent, EventType, NewEvent } from "../contract/events.ts";
import type { Health, ServiceStatus, SessionStatus } from "../contract/link/messages.ts";
import { type AgentEvent, eventForLog } from "../contract/agent-events.ts";
import type { AccessRecords } from "../ports/access-records.ts";
import type { ProjectCaches } from "../ports/caches.ts";
import type { Connections } from "../ports/connections.ts";
import type { Forges } from "../ports/forge.ts";
import type { Gate } from "../ports/gate.ts";
import type { Identity } from "../ports/identity.ts";
import type { Images } from "../ports/images.ts";
import type { Injection } from "../ports/injection.ts";
import type { BoxLink, Links } from "../ports/link.ts";
import type { BoxLogs } from "../ports/logs.ts";
import type { ModelGateway } from "../ports/model-gateway.ts";
import type { Merges } from "../ports/merge.ts";
import type { NoticeSender } from "../ports/notice-sender.ts";
import type { Reviews } from "../ports/review.ts";
import type { SecretScan } from "../ports/secret-scan.ts";
import type { PresetSource } from "../ports/presets.ts";
import type { BoxTools, Runtime } from "../ports/runtime.ts";
import type { BoxStorage } from "../ports/storage.ts";
import type { SshKeys } from "../ports/ssh-keys.ts";
import type { Store, StoreChange } from "../ports/store.ts";
import type { ToolStore } from "../ports/tool-store.ts";
import type { Toolchains } from "../ports/toolchains.ts";
import type { Vault } from "../ports/vault.ts";
import type { Workspaces } from "../ports/workspace.ts";
import { Access } from "./access/access.ts";
import { Team } from "./team/team.ts";
import { AgentWatch } from "./agents/agent-watch.ts";
import type { ModelKeys } from "./agents/model-keys.ts";
import { modelListener } from "./agents/model-listener.ts";
import { Budgets } from "./budget/budgets.ts";
import { pauseForBudget } from "./budget/pause-for-budget.ts";
import { Conversations } from "./conversation/conversations.ts";
import { BoxFacts } from "./facts/box-facts.ts";
import { Notices } from "./notices/notices.ts";
import { Approvals } from "./network/approvals.ts";
import { EgressLog } from "./network/egress-log.ts";
import { EventBudget } from "./network/event-budget.ts";
import { openLogRates } from "./exec/recording.ts";
import { EventBytes, type EventShare } from "./resources/kept-bytes.ts";
import { TurnCheckpoints } from "./review/turn-checkpoints.ts";
import { Queue } from "./queue/queue.ts";
import { Resources } from "./resources/resources.ts";
import { SecretGrants } from "./secrets/secret-grants.ts";

/** Opened runtimes by name; opening one twice gives the same. */
export interface Runtimes {
  readonly names: readonly string[];
  /** Those that are named where the user chooses; the others are for tests. */
  readonly offered: readonly string[];
  /** Also when it cannot start boxes at the moment, because what it has must still be stopped and removed. */
  get(name: string): Promise<Runtime>;
  /** Calls back for each runtime that is open, at once, and for each that is opened later, such as when its engine came up. */
  onOpen(listener: (name: string, runtime: Runtime) => void): void;
  /** Fails with runtime.absent or runtime.broken when the runtime could not start a box. */
  requireReady(name: string): Promise<Runtime>;
}

export interface ConfigFile {
  readonly file: string;
  readonly text: string;
}

/** Facts about the host that decisions need. */
export interface HostFacts {
  readonly userHome: string;
  readonly agentboxHome: string;
  /** New at every boot of the host. */
  readonly bootId: string;
  /** Resolves links; undefined when there is nothing at the path. */
  realPath(path: string): Promise<string | undefined>;
  /**
   * A small file of a project, by its name in the directory; undefined when it does not exist. Links are not followed,
   * and a file that another user can change is refused with `file.foreign`.
   */
  readProjectFile(projectDir: string, name: string): Promise<string | undefined>;
  /** Throws `file.foreign` where another user decides what is in a file or directory. */
  requireOwn(path: string): Promise<void>;
  /** The owner's templates, by name; one that cannot be read is left out. */
  listTemplates(): Promise<readonly { readonly name: string; readonly values: Record<string, unknown> }[]>;
  /** A new one; a name that is taken is refused. */
  addTemplate(name: string, values: Readonly<Record<string, unknown>>): Promise<void>;
  readUserConfig(): Promise<ConfigFile | undefined>;
  /** The owner's settings for all users of the machine. */
  readHostPolicy(): Promise<ConfigFile | undefined>;
}

/** Where box users come from: one for each box under root, our own otherwise. */
export type Owners =
  | { readonly kind: "self"; readonly owner: BoxOwner }
  | { readonly kind: "range"; readonly firstUid: number; readonly count: number };

export interface CatalogueProblem {
  readonly agent: string;
  readonly error: AgentBoxError;
}

export interface CorePorts {
  readonly store: Store;
  readonly accessRecords: AccessRecords;
  readonly identity: Identity;
  readonly storage: BoxStorage;
  readonly workspaces: Workspaces;
  readonly links: Links;
  readonly gate: Gate;
  readonly logs: BoxLogs;
  readonly runtimes: Runtimes;
  readonly presets: PresetSource;
  readonly agents: Readonly<Record<string, AgentEntry>>;
  readonly toolStore: ToolStore;
  /** Packages of MCP servers that images have inside; apart, because they are no agents. */
  readonly serverStore: Pick<ToolStore, "install" | "use">;
  readonly images: Images;
  readonly caches: ProjectCaches;
  readonly reviews: Reviews;
  readonly merges: Merges;
  readonly secretScan: SecretScan;
  readonly noticeSender: NoticeSender;
  readonly models: ModelGateway;
  readonly modelKeys: ModelKeys;
  readonly vault: Vault;
  readonly injection: Injection;
  readonly connections: Connections;
  readonly sshKeys: SshKeys;
  readonly forges: Forges;
  /** Agents that people have defined and that cannot be used, with the reason. */
  readonly agentProblems: readonly CatalogueProblem[];
  /** Reads the agents that people have defined again. */
  readonly refreshAgents: () => Promise<void>;
  readonly tools: BoxTools;
  readonly toolchains: Toolchains;
  readonly owners: Owners;
  readonly host: HostFacts;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Reports a failure in work that no caller waits for. */
  readonly report: (facts: Record<string, unknown>, message: string) => void;
}

/** A box this process talks to. */
export interface LiveBox {
  readonly link: BoxLink;
  readonly incarnation: string;
  /** Where the agent's program is in the box; empty for what is part of every box. */
  readonly program: string;
  /** When the last health message came, on the monotonic clock. */
  healthAtMs: number;
  /** Sources whose output is being recorded, each until its end. */
  readonly recording: Map<string, Promise<void>>;
  /** Sessions that the host has started in this run. */
  readonly sources: Set<string>;
  readonly logRate: Share;
}

/** The reactions to a box's messages over its link; see `link-reactions.ts`. */
export interface LinkReactions {
  health(box: Box, health: Health): void;
  lost(box: Box): void;
  sessionEnded(box: Box, session: SessionStatus): void;
  serviceChanged(box: Box, service: ServiceStatus): void;
}

/** Links that come and go, services that fail, sessions that end: more than any honest box does. */
const boxEventsPerMinute = 300;
/** Messages and tool calls: a fast agent makes one or two a second. */
const agentEventsPerMinute = 400;

/** Enough to keep a few cores busy, and few enough that each comes up while it is waited for. */
const bootsAtATime = 8;

/** SECURITY: also the answer about a box that the caller may not see, so that names cannot be found out. */
export const noSuchBox = (name: string): AgentBoxError =>
  new AgentBoxError("box.not_found", `There is no box named "${name.slice(0, 80)}".`, {
    hint: "List the boxes: agentbox ls",
    facts: { box: name.slice(0, 80) },
  });

export class Core {
  readonly ports: CorePorts;
  readonly reactions: LinkReactions;
  readonly access = new Access(this);
  readonly team = new Team(this);
  readonly notices = new Notices(this);
  readonly approvals = new Approvals(this);
  readonly egressLog = new EgressLog(this);
  readonly agentWatch = new AgentWatch(this);
  readonly budgets = new Budgets(this, (box) => pauseForBudget(this, box));
  readonly modelListener = modelListener(this);
  readonly secretGrants = new SecretGrants(this);
  readonly live = new Map<string, LiveBox>();
  readonly turnCheckpoints = new TurnCheckpoints(this);
  readonly #boxBudget = this.#eventBudget("events", boxEventsPerMinute);
  readonly #agentBudget = this.#eventBudget("agent events", agentEventsPerMinute);
  readonly #locks = new KeyedMutex();
  /** Starts that go on at a time: more would only take longer each, until some are taken for boxes that never come up. */
  readonly boots = new Turns(bootsAtATime);
  readonly #listeners = new Set<(event: BoxEvent) => void>();
  readonly #background = new Set<Promise<unknown>>();
  readonly logRates: SharedRate;
  readonly eventBytes = new EventBytes(() => this.ports.clock);
  readonly facts = new BoxFacts(this);
  readonly conversations = new Conversations(this);
  readonly resources = new Resources(this);
  readonly queue = new Queue(this);

  constructor(ports: CorePorts, reactionsOf: (core: Core) => LinkReactions) {
    this.ports = ports;
    this.logRates = openLogRates(ports.clock);
    this.reactions = reactionsOf(this);
  }

  /** One use case at a time for each box. */
  locked<T>(box: string, task: () => Promise<T>): Promise<T> {
    return this.#locks.run(box, task);
  }

  async getBox(name: string): Promise<Box> {
    const box = await this.ports.store.findBox(name);
    if (box) return box;
    throw noSuchBox(name);
  }

  /** The only way to change state: records and events together, then the followers of the log are told. */
  async commit(change: StoreChange): Promise<void> {
    const events = await this.ports.store.commit(change);
    for (const event of events) for (const listener of this.#listeners) listener(event);
  }

  /** Follows the log from now on; returns the way to stop. */
  onEvent(listener: (event: BoxEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  event(type: EventType, box?: Box, data: Record<string, unknown> = {}): NewEvent {
    return {
      atMs: this.ports.clock.nowMs(),
      type,
      ...(box === undefined ? {} : { box: box.name, incarnation: box.incarnation }),
      data,
    };
  }

  /** Records an event that changes no box. */
  note(type: EventType, box: Box | undefined, data: Record<string, unknown> = {}): Promise<void> {
    return this.commit({ events: [this.event(type, box, data)] });
  }

  /** Records what a box caused by itself. SECURITY: bounded, because the log only grows and a box can repeat itself. */
  noteFromBox(type: EventType, box: Box, data: Record<string, unknown> = {}): void {
    const event = this.event(type, box, data);
    if (this.admitsFromBox(event)) this.background(`noting ${type}`, this.commit({ events: [event] }));
  }

  /** Whether an event may be written that comes with a change which a box has caused; otherwise it is counted. */
  admitsFromBox(event: NewEvent): boolean {
    return this.admits(event, { budget: this.#boxBudget });
  }

  /** An agent's reports about its work; bounded like everything else that a box can repeat. */
  noteFromAgent(box: Box, agentEvent: AgentEvent): void {
    const event = this.event("agent.event", box, eventForLog(agentEvent));
    if (this.admits(event, { budget: this.#agentBudget }))
      this.background("noting an agent's event", this.commit({ events: [event] }));
  }

  /** Reports that are not kept are counted, and the count is kept. */
  admits(
    event: NewEvent,
    { budget, share, count }: { budget: EventBudget; share?: EventShare; count?: number },
  ): boolean {
    const { box = "", incarnation = "" } = event;
    if (!this.eventBytes.hasRoom(incarnation, share)) return (budget.miss(box, count), false);
    if (!budget.take(box, count)) return false;
    this.eventBytes.spend(event, share);
    return true;
  }

  #eventBudget(limit: string, perMinute: number): EventBudget {
    return new EventBudget(
      () => this.ports.clock,
      perMinute,
      (box, count) => {
        const data = { limit, count, reason: `${count} ${limit} of the last minute were not written down` };
        const event: NewEvent = { atMs: this.ports.clock.nowMs(), type: "limit.refused", box, data };
        this.background("noting a limit", this.commit({ events: [event] }));
      },
    );
  }

  /** Runs work that no caller waits for; a failure is reported, never lost and never fatal. */
  background(what: string, task: Promise<unknown>): void {
    const work = task
      .catch((error: unknown) => this.ports.report({ error: String(error) }, `${what} failed`))
      .finally(() => this.#background.delete(work));
    this.#background.add(work);
  }

  /** Resolves when no such work is left, also none that other work has started meanwhile. */
  async backgroundEnded(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }
}
