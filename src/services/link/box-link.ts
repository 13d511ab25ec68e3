/**
 * One box's link. At most one control connection, one-time ids for streams, ceilings on everything the box can make
 * the host keep; what is against the protocol costs the box that connection and is reported.
 */
import type { Socket } from "node:net";
import type { Clock, Ids } from "../../base/clock.ts";
import { type Deferred, deferred } from "../../base/deferred.ts";
import { AgentBoxError } from "../../base/errors.ts";
import type { MainSession } from "../../contract/box.ts";
import {
  Health,
  type Hello,
  type HeldSecrets,
  type SessionStart,
  SessionStatus,
  type StreamOp,
} from "../../contract/link/messages.ts";
import { linkProtocol } from "../../contract/link/protocol.ts";
import type { Logger } from "../../host/logger.ts";
import type { BoxLink, LinkListener, LinkStream } from "../../ports/link.ts";
import { Arrivals, helloMs } from "./arrivals.ts";
import { ControlConnection, type Notice } from "./control-connection.ts";
import { FrameSocket, silent } from "./frame-socket.ts";
import type { BoxRates } from "./link-rates.ts";
import { HostLinkStream } from "./link-stream.ts";
import { type BoxServer, maxConnections, maxGateConnections } from "./listening.ts";
import { Violations } from "./violations.ts";

const requestMs = 10_000;
/** A terminal program that has just been started takes a while to listen. */
const inputMs = 30_000;
const shutdownSlackMs = 5_000;
/** As much longer than its own time-out a command may take to be told of, by a box that tells. */
const timeoutSlackMs = 30_000;
/** SECURITY: a box that opens nothing it is asked for must not make the host wait for more and more. */
const maxExpected = 256;

type ControlHello = Extract<Hello, { role: "control" }>;
type GateHello = Extract<Hello, { role: "gate" }>;

export interface HostBoxLinkOptions {
  readonly box: string;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly listener: LinkListener;
  readonly rates: BoxRates;
}

export class HostBoxLink implements BoxLink {
  readonly #options: HostBoxLinkOptions;
  readonly #sockets = new Set<Socket>();
  readonly #framed = new Set<Socket>();
  readonly #gated = new Set<Socket>();
  /** Streams that were asked for and that boxd has not dialled yet, by one-time id. */
  readonly #expected = new Map<string, Deferred<HostLinkStream>>();
  readonly #waiters = new Set<() => void>();
  readonly #violations: Violations;
  readonly #arrivals: Arrivals;
  #server: BoxServer | undefined;
  #control: ControlConnection | undefined;
  #boot: string | undefined;
  #missing: readonly string[] = [];
  #health: Health | undefined;
  #isPaused = false;
  #isDisposed = false;

  constructor(options: HostBoxLinkOptions) {
    this.#options = options;
    this.#violations = new Violations(options.clock, (reason) => {
      options.logger.warn({ box: options.box, reason }, "a box broke the link protocol");
      options.listener.violated?.(reason);
    });
    this.#arrivals = new Arrivals(options.clock, options.rates, {
      greet: (socket, hello) => this.#greet(socket, hello),
      violated: (reason) => this.violated(reason),
    });
  }

  violated(reason: string): void {
    this.#violations.add(reason);
  }

  serve(server: BoxServer): void {
    this.#server = server;
  }

  get isConnected(): boolean {
    return this.#control !== undefined;
  }

  get missing(): readonly string[] {
    return this.#missing;
  }

  get lastHealth(): Health | undefined {
    return this.#health;
  }

  accept(raw: Socket): void {
    this.#sockets.add(raw);
    raw.on("close", () => {
      for (const set of [this.#sockets, this.#framed, this.#gated]) set.delete(raw);
    });
    this.#arrivals.add(raw);
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
    if (this.#expected.size >= maxExpected)
      throw new AgentBoxError("box.unreachable", `The box has not opened ${maxExpected} streams yet.`);
    const id = this.#options.ids.random();
    const expected = deferred<HostLinkStream>();
    const cancel = this.#options.clock.after(requestMs, () =>
      expected.reject(
        new AgentBoxError("box.unreachable", `The box did not open the stream within ${requestMs} ms.`),
      ),
    );
    this.#expected.set(id, expected);
    try {
      control.send({ type: "open", id, op });
      const stream = await expected.promise;
      if (op.kind === "exec" && op.timeoutMs !== undefined) this.#endAfter(stream, op.timeoutMs);
      return stream;
    } finally {
      cancel();
      this.#expected.delete(id);
    }
  }

  async startSession(
    session: string,
    spec: MainSession,
    more: Omit<SessionStart, "session" | "spec"> = {},
  ): Promise<SessionStatus> {
    return this.#checked(
      SessionStatus,
      await this.#connected().request("session.start", { session, spec, ...more }, requestMs),
    );
  }

  async inputSession(session: string, text: string): Promise<void> {
    await this.#connected().request("session.input", { session, text }, inputMs);
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

  async setPorts(ports: readonly number[]): Promise<void> {
    await this.#connected().request("network.ports", { ports: [...ports] }, requestMs);
  }

  async putSecrets(secrets: HeldSecrets): Promise<void> {
    await this.#connected().request("secrets.put", secrets, requestMs);
  }

  async seal(): Promise<Health> {
    this.#health = this.#checked(Health, await this.#connected().request("seal", {}, requestMs));
    return this.#health;
  }

  setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#control?.setPaused(isPaused);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    const closed = this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#violations.close();
    await closed;
  }

  /** The first frame says what a connection is for. */
  #greet(raw: Socket, hello: Hello): void {
    if (hello.role === "gate" && hello.protocol === linkProtocol) return this.#greetGate(raw, hello);
    const expected = hello.role === "stream" ? this.#expected.get(hello.id) : undefined;
    if (hello.role === "stream" && !expected)
      return this.#arrivals.refuse(raw, "a stream that was not asked for");
    if (this.#framed.size >= maxConnections) return this.#arrivals.refuse(raw, "too many connections");
    this.#framed.add(raw);
    const socket = new FrameSocket(raw, this.#options.clock);
    socket.handOver({ ...silent, violated: (reason) => this.violated(reason) });
    if (hello.protocol !== linkProtocol) {
      return this.#refuse(socket, `protocol ${hello.protocol}, this host speaks ${linkProtocol}`);
    }
    if (hello.role === "control") return this.#greetControl(socket, hello);
    if (hello.role !== "stream" || !expected) return socket.destroy();
    this.#expected.delete(hello.id);
    socket.measureWith(this.#options.rates.frame);
    expected.resolve(new HostLinkStream(socket, (reason) => this.violated(reason)));
  }

  /** From here on the bytes are a program's and the gate's; the link only closes what is left when it goes. */
  #greetGate(raw: Socket, { via, host, port, program }: GateHello): void {
    const { listener } = this.#options;
    const isWhole =
      via === "tcp" ? host !== undefined && port !== undefined : host === undefined && port === undefined;
    const problem = !isWhole
      ? "a way out to nowhere"
      : this.#gated.size >= maxGateConnections
        ? "too many ways out at once"
        : undefined;
    if (problem !== undefined) return this.#arrivals.refuse(raw, problem);
    if (!listener.gate) return void raw.destroy();
    this.#gated.add(raw);
    // A program that has said everything may still wait for the answer.
    raw.allowHalfOpen = true;
    listener.gate({ socket: raw, via, host, port, program });
  }

  #greetControl(socket: FrameSocket, { boot, missing = [] }: ControlHello): void {
    // SECURITY: everything in the box can dial; the agent must not take boxd's place while boxd lives.
    if (this.#control) return this.#refuse(socket, "a second control connection");
    const { clock, listener, rates } = this.#options;
    this.#control = new ControlConnection(
      socket,
      { clock, isPaused: this.#isPaused, meter: rates.control },
      {
        notice: (notice) => this.#notice(notice),
        violated: (reason) => this.violated(reason),
        closed: () => this.#lost(),
      },
    );
    socket.send({ type: "welcome", protocol: linkProtocol });
    const isReconnect = this.#boot === boot;
    this.#boot = boot;
    this.#missing = missing;
    for (const wake of this.#waiters) wake();
    listener.connected?.(boot, isReconnect);
  }

  #refuse(socket: FrameSocket, reason: string): void {
    this.violated(reason);
    const { clock, rates } = this.#options;
    socket.handOver(silent);
    socket.pause();
    const refuse = (): void => {
      socket.send({ type: "refused", reason });
      socket.end();
      socket.resume();
      // The refusal is on its way; a box that does not take it gets no more time than for a hello.
      clock.after(helloMs, () => socket.destroy());
    };
    const waitMs = rates.offence();
    if (waitMs === 0) refuse();
    else clock.after(waitMs, refuse);
  }

  /** SECURITY: boxd ends a command that takes too long; a box that is not boxd might let the host wait for ever. */
  #endAfter(stream: HostLinkStream, timeoutMs: number): void {
    const { clock } = this.#options;
    const end = (): void => {
      // A box that stands still is late through no fault of its own.
      if (this.#isPaused) cancel = clock.after(timeoutSlackMs, end);
      else stream.close();
    };
    let cancel = clock.after(timeoutMs + timeoutSlackMs, end);
    stream.whenClosed(() => cancel());
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
    this.violated("an invalid answer");
    this.#control?.destroy();
    throw new AgentBoxError("link.violation", "The box gave an invalid answer and was cut off.");
  }
}
