import { randomBytes } from "node:crypto";
import { AgentBoxError, messageOf, systemCode } from "../base/errors.ts";
import type {
  BoxdConfig,
  ControlMethod,
  ControlRequest,
  Health,
  HeldSecrets,
  StreamOp,
  StreamOutput,
} from "../contract/link/messages.ts";
import { boxPaths } from "../contract/box-paths.ts";
import { findMissing } from "./artifacts.ts";
import { boxEnv } from "./box-config.ts";
import { linkCorepack } from "./home-programs.ts";
import { linkProtocol } from "../contract/link/protocol.ts";
import { Activity } from "./activity.ts";
import { Connection } from "./connection.ts";
import { serveExec } from "./programs/exec.ts";
import { serveFollow } from "./output/follow.ts";
import { servePort } from "./ports/open-port.ts";
import type { HooksFile } from "./hooks-file.ts";
import { readMemoryDirs } from "./memory-dirs.ts";
import { HostControl } from "./host-control.ts";
import type { BoxNetwork } from "./network/index.ts";
import type { OutputRing } from "./output/output-ring.ts";
import { processIds } from "./programs/process-group.ts";
import { servePorts } from "./ports/ports.ts";
import { serveListFiles, serveSliceFile } from "./files/look-at-files.ts";
import { serveReadFiles } from "./files/read-files.ts";
import { Services } from "./services/services.ts";
import { Sessions } from "./sessions/sessions.ts";
import { serveWriteFiles } from "./files/write-files.ts";
import type { ErrorCode } from "../base/error-codes.ts";

const lookEveryMs = 20;
const hangUpAfterMs = 1_000;
/** After a kill only the kernel is waited for. */
const killedMs = 1_000;

/** Asks sessions and services to end, the services against the order they started in, and kills what stays. */
async function stopAll(sessions: Sessions, services: Services, graceMs: number): Promise<void> {
  for (const session of sessions.running) session.signal("SIGTERM");
  services.stopNext();
  const isOver = () => sessions.running.length === 0 && services.running.length === 0;
  const politeMs = Math.min(graceMs / 2, hangUpAfterMs);
  if (await holds(isOver, politeMs)) return;
  // An interactive shell ignores TERM; hanging up is how a terminal says the same.
  for (const session of sessions.running) session.signal("SIGHUP");
  if (await holds(isOver, graceMs - politeMs)) return;
  for (const program of [...sessions.running, ...services.running]) program.signal("SIGKILL");
  await holds(isOver, killedMs);
}

async function holds(condition: () => boolean, withinMs: number): Promise<boolean> {
  const endMs = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() >= endMs) return false;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return true;
}

const codes: Record<string, ErrorCode> = {
  ENOENT: "file.not_found",
  ENOTDIR: "file.not_found",
  EEXIST: "file.exists",
  EISDIR: "file.exists",
  ENOTEMPTY: "file.exists",
  ELOOP: "file.unsafe_path",
};

/** Any error as what the host is told: a code from the table and one sentence that fits its frame. */
function failure(error: unknown): Extract<StreamOutput, { type: "failed" }> {
  const code =
    error instanceof AgentBoxError ? error.code : (codes[systemCode(error) ?? ""] ?? "file.failed");
  return { type: "failed", code, message: messageOf(error).slice(0, 4000) };
}

const version = "1";
const healthEveryMs = 5_000;
const healthDelayMs = 100;

type Request = Extract<ControlRequest, { type: "request" }>;

/** The supervisor: answers the host, keeps sessions and services, and goes on when the host is away. */
export class Boxd {
  readonly #config: BoxdConfig;
  readonly #socketPath: string;
  readonly #onExit: () => void;
  readonly #activity = new Activity();
  readonly #sessions: Sessions;
  readonly #services: Services;
  readonly #control: HostControl;
  #network: BoxNetwork | undefined;
  #sshAgent: { close(): unknown } | undefined;
  #hooks: HooksFile | undefined;
  #healthTimer: NodeJS.Timeout | undefined;
  readonly #isWhole: boolean;
  #isSealed = false;
  #isStopping = false;

  constructor(config: BoxdConfig, socketPath: string, onExit: () => void) {
    this.#config = { ...config, env: { ...config.env } };
    this.#socketPath = socketPath;
    this.#onExit = onExit;
    this.#sessions = new Sessions(this.#config, this.#activity, (session) => {
      this.#control.send({ type: "session.ended", session: session.status });
      this.#healthSoon();
    });
    this.#services = new Services(this.#config, (service) => {
      this.#control.send({ type: "service.changed", service: service.status });
      this.#healthSoon();
    });
    const boot = randomBytes(8).toString("hex");
    const missing = findMissing(this.#config);
    this.#isWhole = missing.length === 0;
    this.#control = new HostControl(
      socketPath,
      { boot, version, ...(this.#isWhole ? {} : { missing }) },
      {
        connected: () => this.#sendHealth(),
        request: (request) => this.#receive(request),
      },
    );
  }

  /**
   * The network first: the host may run a command as soon as it hears of the box. A box that lacks something only says
   * so: nothing of the agent's ever runs in half of what was promised.
   */
  async start(): Promise<void> {
    if (!this.#isWhole) return this.#control.dial();
    const { PATH, HOME } = boxEnv(this.#config);
    await linkCorepack(PATH, HOME);
    if (this.#config.network) await this.#openNetwork(this.#config.network);
    if (this.#config.sshAgent) await this.#openSshAgent(this.#config.sshAgent);
    this.#control.dial();
    if (!this.#config.awaitsSecrets) this.#services.start();
  }

  /** SECURITY: variables are kept in this process alone; a file is in a file system that has no disk. */
  async #putSecrets({ env, files }: HeldSecrets): Promise<void> {
    if (this.#isSealed) throw new AgentBoxError("box.wrong_phase", "The box is sealed: its boot is over.");
    if (files.length > 0) {
      const { writeSecretFiles } = await import("./files/secret-files.ts");
      await writeSecretFiles(files);
    }
    Object.assign(this.#config.env, env);
    // A daemon that was killed half-way sends them again; what runs already is left as it is.
    if (this.#config.awaitsSecrets) this.#services.start();
    this.#config.awaitsSecrets = false;
  }

  /** A box whose network does not come up has none: it says so and goes on. */
  async #openNetwork({ ports }: { ports: readonly number[] }): Promise<void> {
    try {
      // Not loaded by a box without a way out.
      const { openNetwork } = await import("./network/index.ts");
      const { hostname } = this.#config;
      this.#network = await openNetwork({ ports, hostname, linkSocket: this.#socketPath });
    } catch (error) {
      process.stderr.write(`boxd: this box has no way out: ${messageOf(error)}\n`);
    }
  }

  async #openSshAgent({ socket, knownHosts }: NonNullable<BoxdConfig["sshAgent"]>): Promise<void> {
    try {
      const { openSshAgentSocket } = await import("./network/ssh-agent-socket.ts");
      this.#sshAgent = await openSshAgentSocket(socket, this.#socketPath);
      // The second of the files that ssh looks into, so that the first stays the agent's own.
      const file = { path: ".ssh/known_hosts2", text: knownHosts, how: "replace" } as const;
      const { seedHome } = await import("./files/seed-home.ts");
      await seedHome([file], {}, boxEnv(this.#config)["HOME"]);
    } catch (error) {
      process.stderr.write(`boxd: keys for ssh are not whole: ${messageOf(error)}\n`);
    }
  }

  /** Ends everything in the box: asks, waits, kills. */
  async shutdown(graceMs: number, isDone: () => void = () => undefined): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    await stopAll(this.#sessions, this.#services, graceMs);
    isDone();
    this.#network?.close();
    this.#sshAgent?.close();
    this.#hooks?.close();
    clearTimeout(this.#healthTimer);
    await this.#control.close();
    this.#onExit();
  }

  #receive(message: ControlRequest): void {
    if (message.type === "open") return this.#open(message.id, message.op);
    if (message.type !== "request")
      throw new TypeError(`a message of type ${String((message as { type: unknown }).type)}`);
    const { id } = message;
    if (message.method === "shutdown") {
      const done = () => this.#control.send({ type: "response", id, result: {} });
      void this.shutdown(message.params.graceMs, done);
      return;
    }
    this.#answer(message).then(
      (result) => this.#control.send({ type: "response", id, result }),
      (error: unknown) => {
        const { code, message: text } = failure(error);
        this.#control.send({ type: "error", id, code, message: text });
      },
    );
  }

  async #answer(request: Exclude<Request, { method: "shutdown" }>): Promise<unknown> {
    switch (request.method) {
      case "session.start": {
        if (request.params.hasHooks) await this.#openHooks();
        const session = await this.#sessions.start(request.params);
        this.#healthSoon();
        return session.status;
      }
      case "session.input":
        await this.#sessions.input(request.params.session, request.params.text);
        return {};
      case "session.signal":
        this.#sessions.signal(request.params.session, request.params.signal);
        return {};
      case "health":
        return this.#health();
      case "secrets.put":
        await this.#putSecrets(request.params);
        return {};
      case "seal":
        this.#isSealed = true;
        return this.#health();
      case "network.ports":
        await this.#network?.setPorts(request.params.ports);
        return {};
      default:
        throw new TypeError(`There is no method ${(request as { method: ControlMethod }).method}.`);
    }
  }

  /** Dials again for one stream; the id says which request of the host it belongs to. */
  #open(id: string, op: StreamOp): void {
    if (this.#isStopping) return;
    const connection = new Connection(this.#socketPath);
    connection.send({ role: "stream", protocol: linkProtocol, id });
    this.#serve(connection, op).catch((error: unknown) => connection.end(failure(error)));
  }

  async #serve(connection: Connection, op: StreamOp): Promise<void> {
    switch (op.kind) {
      case "exec":
        this.#activity.touch();
        return serveExec(connection, op, this.#config, this.#activity);
      case "attach":
        return this.#sessions.get(op.session).attach(connection, op);
      case "follow":
        return serveFollow(connection, op, this.#ringOf(op.source));
      case "files.read":
        return serveReadFiles(connection, op, this.#config);
      case "files.write":
        return serveWriteFiles(connection, op, this.#config);
      case "files.list":
        return serveListFiles(connection, op, this.#config);
      case "files.slice":
        return serveSliceFile(connection, op, this.#config);
      case "port.open":
        this.#activity.touch();
        return servePort(connection, op, this.#activity);
      case "ports.list":
        return servePorts(connection);
      default:
        throw new AgentBoxError(
          "box.too_old",
          `There is no stream of kind ${(op as { kind: string }).kind} in this box.`,
        );
    }
  }

  async #openHooks(): Promise<void> {
    const { HooksFile } = await import("./hooks-file.ts");
    this.#hooks ??= new HooksFile(boxPaths.hooksFile);
    await this.#hooks.open();
  }

  #ringOf(source: string): OutputRing {
    if (source === "hooks" && this.#hooks) return this.#hooks.ring;
    const [, kind, name] = /^(?:(service|session):)?(.*)$/s.exec(source)!;
    return kind === "service" ? this.#services.get(name!).ring : this.#sessions.get(name!).ring;
  }

  /** Several changes at once make one message. */
  #healthSoon(): void {
    clearTimeout(this.#healthTimer);
    this.#healthTimer = setTimeout(() => this.#sendHealth(), healthDelayMs);
  }

  #sendHealth(): void {
    clearTimeout(this.#healthTimer);
    this.#healthTimer = setTimeout(() => this.#sendHealth(), healthEveryMs);
    try {
      this.#control.send({ type: "health", health: this.#health() });
    } catch (error) {
      process.stderr.write(`boxd: no health: ${messageOf(error)}\n`);
    }
  }

  #health(): Health {
    return {
      uptimeMs: performance.now(),
      idleMs: this.#activity.idleMs,
      rssBytes: process.memoryUsage.rss(),
      processes: processIds().length,
      isSealed: this.#isSealed,
      sessions: this.#sessions.statuses,
      services: this.#services.statuses,
      memory: readMemoryDirs(),
    };
  }
}
