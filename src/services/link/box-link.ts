/**
 * One box's link. At most one control connection, one-time ids for streams, ceilings on everything the box can make
 * the host keep; what is against the protocol costs the box that connection and is reported.
 */
import type { Server, Socket } from "node:net";
import type { Clock, Ids } from "../../base/clock.ts";
import { type Deferred, deferred } from "../../base/deferred.ts";
import { AgentBoxError } from "../../base/errors.ts";
import type { MainSession } from "../../contract/box.ts";
import { decodeJson, type Frame, frameKind } from "../../contract/link/codec.ts";
import { Health, Hello, SessionStatus, type StreamOp } from "../../contract/link/messages.ts";
import { linkProtocol } from "../../contract/link/protocol.ts";
import type { Logger } from "../../host/logger.ts";
import type { BoxLink, LinkListener, LinkStream } from "../../ports/link.ts";
import { ControlConnection, type Notice } from "./control-connection.ts";
import { FrameSocket } from "./frame-socket.ts";
import { HostLinkStream } from "./link-stream.ts";
import { Violations } from "./violations.ts";

const helloMs = 5_000;
const requestMs = 10_000;
const shutdownSlackMs = 5_000;
const maxPending = 64;

export interface HostBoxLinkOptions {
  readonly box: string;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly listener: LinkListener;
}

export class HostBoxLink implements BoxLink {
  readonly #options: HostBoxLinkOptions;
  readonly #sockets = new Set<FrameSocket>();
  readonly #pending = new Set<FrameSocket>();
  /** Streams that were asked for and that boxd has not dialled yet, by one-time id. */
  readonly #expected = new Map<string, Deferred<LinkStream>>();
  readonly #waiters = new Set<() => void>();
  readonly #violations: Violations;
  #server: Server | undefined;
  #control: ControlConnection | undefined;
  #boot: string | undefined;
  #health: Health | undefined;
  #isPaused = false;
  #isDisposed = false;

  constructor(options: HostBoxLinkOptions) {
    this.#options = options;
    this.#violations = new Violations(options.clock, (reason) => {
      options.logger.warn({ box: options.box, reason }, "a box broke the link protocol");
      options.listener.violated?.(reason);
    });
  }

  serve(server: Server): void {
    this.#server = server;
  }

  get isConnected(): boolean {
    return this.#control !== undefined;
  }

  get lastHealth(): Health | undefined {
    return this.#health;
  }

  accept(raw: Socket): void {
    const socket = new FrameSocket(raw);
    if (this.#pending.size >= maxPending) {
      this.#violations.add("too many connections that say nothing");
      return socket.destroy();
    }
    this.#sockets.add(socket);
    this.#pending.add(socket);
    raw.on("close", () => this.#sockets.delete(socket));
    const settle = () => {
      this.#pending.delete(socket);
      cancel();
    };
    // SECURITY: a box that opens connections and keeps silent would otherwise use up all the places.
    const cancel = this.#options.clock.after(helloMs, () => socket.violate("no hello in time"));
    socket.handOver({
      frame: (frame) => {
        settle();
        this.#greet(socket, frame);
      },
      drained: () => undefined,
      violated: (reason) => this.#violations.add(reason),
      closed: settle,
    });
  }

  async waitConnected(timeoutMs: number): Promise<void> {
    if (this.isConnected) return;
    const connected = deferred<void>();
    const wake = () => connected.resolve();
    const cancel = this.#options.clock.after(timeoutMs, () =>
      connected.reject(
        new AgentBoxError("box.unreachable", `The box did not connect within ${timeoutMs} ms.`),
      ),
    );
    this.#waiters.add(wake);
    try {
      await connected.promise;
    } finally {
      cancel();
      this.#waiters.delete(wake);
    }
  }

  async open(op: StreamOp): Promise<LinkStream> {
    const control = this.#connected();
    const id = this.#options.ids.random();
    const expected = deferred<LinkStream>();
    const cancel = this.#options.clock.after(requestMs, () =>
      expected.reject(
        new AgentBoxError("box.unreachable", `The box did not open the stream within ${requestMs} ms.`),
      ),
    );
    this.#expected.set(id, expected);
    try {
      control.send({ type: "open", id, op });
      return await expected.promise;
    } finally {
      cancel();
      this.#expected.delete(id);
    }
  }

  async startSession(session: string, spec: MainSession): Promise<SessionStatus> {
    return this.#checked(
      SessionStatus,
      await this.#connected().request("session.start", { session, spec }, requestMs),
    );
  }

  async signalSession(session: string, signal: string): Promise<void> {
    await this.#connected().request("session.signal", { session, signal }, requestMs);
  }

  async health(): Promise<Health> {
    this.#health = this.#checked(Health, await this.#connected().request("health", {}, requestMs));
    return this.#health;
  }

  async shutdown(graceMs: number): Promise<void> {
    await this.#connected().request("shutdown", { graceMs }, graceMs + shutdownSlackMs);
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#control?.setPaused(isPaused);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    const server = this.#server;
    const closed = new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    for (const socket of this.#sockets) socket.destroy();
    this.#violations.close();
    await closed;
  }

  /** The first frame says what a connection is for; anything else ends it. */
  #greet(socket: FrameSocket, frame: Frame): void {
    const hello = frame.kind === frameKind.json ? Hello.safeParse(decodeJson(frame.payload)) : undefined;
    if (!hello?.success) return socket.violate("a first frame that is no hello");
    if (hello.data.protocol !== linkProtocol) {
      return this.#refuse(socket, `protocol ${hello.data.protocol}, this host speaks ${linkProtocol}`);
    }
    if (hello.data.role === "control") return this.#greetControl(socket, hello.data.boot);
    const expected = this.#expected.get(hello.data.id);
    if (!expected) return socket.violate("a stream that nobody asked for");
    this.#expected.delete(hello.data.id);
    expected.resolve(new HostLinkStream(socket, (reason) => this.#violations.add(reason)));
  }

  #greetControl(socket: FrameSocket, boot: string): void {
    // SECURITY: everything in the box can dial; the agent must not take boxd's place while boxd lives.
    if (this.#control) return this.#refuse(socket, "a second control connection");
    const { clock, listener } = this.#options;
    this.#control = new ControlConnection(socket, clock, this.#isPaused, {
      notice: (notice) => this.#notice(notice),
      violated: (reason) => this.#violations.add(reason),
      closed: () => this.#lost(),
    });
    socket.send({ type: "welcome", protocol: linkProtocol });
    const isReconnect = this.#boot === boot;
    this.#boot = boot;
    for (const wake of this.#waiters) wake();
    listener.connected?.(boot, isReconnect);
  }

  #refuse(socket: FrameSocket, reason: string): void {
    this.#violations.add(reason);
    socket.handOver({
      frame: () => undefined,
      drained: () => undefined,
      violated: () => undefined,
      closed: () => undefined,
    });
    socket.send({ type: "refused", reason });
    socket.end();
    // The refusal is on its way; a box that does not take it gets no more time than for a hello.
    this.#options.clock.after(helloMs, () => socket.destroy());
  }

  #notice(notice: Notice): void {
    const { listener } = this.#options;
    if (notice.type === "health") {
      this.#health = notice.health;
      listener.health?.(notice.health);
    } else if (notice.type === "session.ended") {
      listener.sessionEnded?.(notice.session);
    } else {
      listener.serviceChanged?.(notice.service);
    }
  }

  #lost(): void {
    this.#control = undefined;
    const error = new AgentBoxError("box.unreachable", "The box went away.");
    for (const expected of this.#expected.values()) expected.reject(error);
    // Who closed the link does not need to be told.
    if (!this.#isDisposed) this.#options.listener.lost?.();
  }

  #connected(): ControlConnection {
    if (this.#control) return this.#control;
    throw new AgentBoxError("box.unreachable", `The box ${this.#options.box} is not connected.`);
  }

  /** SECURITY: an answer is as hostile as everything else that comes from the box. */
  #checked<T>(
    schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } },
    value: unknown,
  ): T {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    this.#violations.add("an answer that is none");
    this.#control?.destroy();
    throw new AgentBoxError("link.violation", "The box gave an answer that is none, and was cut off.");
  }
}
