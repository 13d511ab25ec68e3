/**
 * Sends what exchange.ts makes through a gate to real servers, and compares what was judged with what each server has
 * read, and what a server has answered with what the program got.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Socket } from "node:net";
import { gateLimits } from "../../../src/services/gate/limits.ts";
import type { DecideEgress } from "../../../src/services/gate/index.ts";
import {
  type GateFixture,
  decide,
  openGateFixture,
  rule,
  startTls,
} from "../../../src/services/gate/fixtures/gate.fixture.ts";
import { fakeInjection, value } from "../../../src/services/gate/fixtures/injection.fixture.ts";
import { type Random, below, pick, seeded } from "../seeded.ts";
import { type Answer, type Told, speakHttp1, speakHttp2 } from "./clients.ts";
import { speakRawHttp2 } from "./raw-http2.ts";
import { type Exchange, allowedMethods, host, makeExchange } from "./exchange.ts";
import { type FuzzServer, type Sighting, digestOf } from "./servers.ts";

/** How a program speaks to the gate. */
const clientKinds = [
  "http2",
  "raw-http2",
  "http1-in-tls",
  "http1",
  "proxy",
  "tunnel",
  "http2-tunnel",
] as const;
type ClientKind = (typeof clientKinds)[number];

/** `judged`: rules name methods, so what a body hides must never run. `read`: read only because a plain request always is. */
type Mode = "judged" | "read";

interface Sent {
  readonly exchange: Exchange;
  readonly isManaged: boolean;
  readonly clientKind: ClientKind;
  allowed: number;
  seen: number;
}

export interface Differences {
  exchanges: number;
  /** Requests that servers have read. */
  sightings: number;
  /** Connections whose client gave up waiting. */
  stuck: number;
  answers: number;
  readonly found: string[];
}

const rulesFor = (server: FuzzServer, mode: Mode) =>
  mode === "judged"
    ? [server.http, server.https].map((port) => rule(host, port, { methods: allowedMethods }))
    : [rule(host, server.http), rule(host, server.https, { methods: allowedMethods })];

/** Managed are those with a secret, which goes into every request. */
const managed = new Set(["node", "nginx", "python", "hostile"]);

export class Differential implements AsyncDisposable {
  readonly differences: Differences = { exchanges: 0, sightings: 0, stuck: 0, answers: 0, found: [] };
  readonly #servers: readonly FuzzServer[];
  readonly #fixture: GateFixture;
  readonly #ca: string;
  /** Method and path of what was allowed since they were last looked at. */
  readonly #judged: string[];
  readonly #sent = new Map<string, Sent>();
  /** A request that was judged and allowed, and is in the words of no exchange: a disguise was taken for it. */
  readonly #others = new Set<string>();
  /** The requests that a server has read before the gate has recorded its judgement. */
  #waiting: Sighting[] = [];

  private constructor(servers: readonly FuzzServer[], fixture: GateFixture, judged: string[]) {
    this.#servers = servers;
    this.#fixture = fixture;
    this.#judged = judged;
    this.#ca = readFileSync(join(fixture.dir, "ca", "ca.pem"), "utf8");
  }

  static async open(servers: readonly FuzzServer[]): Promise<Differential> {
    const injection = fakeInjection(
      ...servers.filter(({ name }) => managed.has(name)).map(({ https }) => `${host}:${https}`),
    );
    const many = 1_000_000;
    const limits = {
      ...gateLimits,
      newConnectionsPerSecond: many,
      requestsPerSecond: many,
      requestsBurst: many,
      paceBurst: many,
      pacePerSecond: many,
      paceAlone: many,
      paceTogether: many,
    };
    const judged: string[] = [];
    const noting: DecideEgress = (policy, request, context) => {
      const decision = decide(policy, request, context);
      if (decision.outcome === "allow" && request.method !== undefined)
        judged.push(`${request.method} ${request.path}`);
      return decision;
    };
    return new Differential(servers, await openGateFixture({ injection, limits, decide: noting }), judged);
  }

  /** As many exchanges as that, or until something differs. */
  async run(
    seed: number,
    count: number,
    onProgress: (differences: Differences) => void = () => undefined,
  ): Promise<Differences> {
    const { differences } = this;
    for (let round = 0; differences.exchanges < count && differences.found.length === 0; round += 1) {
      await this.#round(seeded(seed + round * 7_919), `${seed}-${round}`, round);
      this.#compare();
      if (round % 200 === 199) onProgress(differences);
    }
    await this.#settle();
    return differences;
  }

  /** One server, one policy, and programs beside each other. */
  async #round(random: Random, name: string, round: number): Promise<void> {
    const server = pick(random, this.#servers);
    // A new policy forgets the connections that are kept, and those are what is attacked here.
    const mode = round % 60 < 40 ? "judged" : "read";
    if (round % 20 === 0) this.#fixture.setPolicy(...this.#servers.flatMap((one) => rulesFor(one, mode)));
    const programs = Array.from({ length: 1 + below(random, 3) }, (_, i) =>
      this.#program(seeded(random() * 2 ** 32), server, mode, `${name}-${i}`),
    );
    const told = await Promise.all(programs);
    for (const one of told) {
      if (one.isStuck) this.differences.stuck += 1;
      for (const answer of one.answers) this.#hear(answer, name);
    }
  }

  async #program(random: Random, server: FuzzServer, mode: Mode, name: string): Promise<Told> {
    const clientKind: ClientKind =
      mode === "read"
        ? pick(random, ["http1", "http1", "proxy", "http2"] as const)
        : pick(random, clientKinds);
    const isHttp2 = clientKind.includes("http2");
    const isSecure = isHttp2 || clientKind === "http1-in-tls" || clientKind === "tunnel";
    const port = isSecure ? server.https : server.http;
    const exchanges: Exchange[] = [];
    const wanted = 1 + below(random, 80);
    const isHostile = server.name === "hostile";
    // Python reads what it has not asked for as the next request, and so does no server that is to be trusted with bodies.
    const mayAnswerEarly = isSecure || mode === "judged" || server.name !== "python";
    // Caddy waits for a body that it does not need, unless the connection is to end anyway.
    const answersAtOnce =
      server.name !== "apache" && (server.name !== "caddy" || isSecure || mode === "judged");
    const mayDisguise = (!isHttp2 || clientKind === "raw-http2") && random() < 0.4;
    const cutShare = isHttp2 ? 0.2 : 0.04;
    const situation = { isHostile, mayDisguise, mayAnswerEarly, answersAtOnce, cutShare };
    for (let i = 0; i < wanted; i += 1) {
      const exchange = makeExchange(random, `${name}-${i}`, situation);
      exchanges.push(exchange);
      const isManaged = isSecure && managed.has(server.name);
      this.#sent.set(`${exchange.method} ${exchange.path}`, {
        exchange,
        isManaged,
        clientKind,
        allowed: 0,
        seen: 0,
      });
      // Over HTTP/1.1 nothing can follow on a connection that has ended.
      if (!isHttp2 && exchange.ending !== "whole") break;
    }
    const socket = await this.#connect(clientKind, port).catch((error: unknown) => String(error));
    if (typeof socket === "string") {
      this.#find(`${name}: no connection over ${clientKind}: ${socket}`);
      return { answers: [], isStuck: true };
    }
    this.differences.exchanges += exchanges.length;
    if (clientKind === "raw-http2") return await speakRawHttp2(random, socket, exchanges);
    if (isHttp2) return await speakHttp2(random, socket, exchanges);
    return await speakHttp1(random, socket, exchanges, clientKind === "proxy" && port);
  }

  async #connect(clientKind: ClientKind, port: number): Promise<Socket> {
    if (clientKind === "proxy") return await this.#fixture.open({ via: "proxy" });
    const isTunnel = clientKind.endsWith("tunnel");
    const socket = await this.#fixture.open(isTunnel ? { via: "proxy" } : { via: "tcp", host, port });
    if (clientKind === "http1") return socket;
    if (isTunnel) {
      socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
      const [answer] = (await once(socket, "data")) as [Buffer];
      if (!answer.toString("latin1").startsWith("HTTP/1.1 200 ")) return socket.destroy();
    }
    return await startTls(socket, host, this.#ca, [clientKind.includes("http2") ? "h2" : "http/1.1"]);
  }

  #hear({ exchange, status, seen, size, bytes }: Answer, name: string): void {
    this.differences.answers += 1;
    if (seen?.includes("poison") === true)
      this.#find(`${name}: an answer that nobody asked for was given (${status})`);
    if (exchange === undefined) return;
    if (seen !== undefined && seen !== exchange.path)
      this.#find(`${exchange.path} was answered with the answer to ${seen}`);
    if (size !== undefined && size !== bytes)
      this.#find(
        `${exchange.method} ${exchange.path}: ${bytes} of ${size} bytes were given as a whole answer`,
      );
  }

  #compare(): void {
    this.#fixture.records.length = 0;
    for (const key of this.#judged.splice(0)) {
      const sent = this.#sent.get(key);
      if (sent !== undefined) sent.allowed += 1;
      else this.#others.add(key);
    }
    const sightings = [...this.#waiting, ...this.#servers.flatMap((server) => server.sightings())];
    this.#waiting = [];
    for (const sighting of sightings) if (!this.#isJudged(sighting)) this.#waiting.push(sighting);
    if (this.#waiting.length > 5_000) this.#findWaiting();
    this.#forgetOld();
  }

  /** False: nothing is known yet that it could have come from. */
  #isJudged(sighting: Sighting): boolean {
    const { server, method, target, authorization, digest } = sighting;
    const key = `${method} ${target}`;
    const sent = this.#sent.get(key);
    if (sent === undefined) return this.#others.has(key);
    if (sent.allowed === 0) return false;
    const { exchange, isManaged } = sent;
    if (!server.startsWith("behind")) {
      this.differences.sightings += 1;
      sent.seen += 1;
      // A request without a body may be sent once more when a kept connection was closed at that moment.
      const isBodiless =
        exchange.framing === "none" || (sent.clientKind.includes("http2") && exchange.body.length === 0);
      const mayRepeat = isBodiless && method !== "POST";
      if (sent.seen > sent.allowed * (mayRepeat ? 2 : 1))
        this.#find(`${server} has read ${method} ${target} ${sent.seen} times`);
      if (sighting.host.split(":")[0] !== host)
        this.#find(`${server} has read another host: ${JSON.stringify(sighting)}`);
    }
    if (authorization !== (isManaged ? `Bearer ${value}` : ""))
      this.#find(`${server} has read ${method} ${target} with "${authorization}" as its authorization`);
    if (digest === undefined || exchange.disguise !== undefined) return true;
    // Node's client writes the end of a stream before it resets it.
    const isUnclear =
      (sent.clientKind === "http2" || sent.clientKind === "http2-tunnel") && exchange.framing === "chunked";
    if (exchange.sent < exchange.body.length && !isUnclear)
      this.#find(
        `${server} has taken ${exchange.sent} of ${exchange.body.length} bytes of ${method} ${target} for all`,
      );
    else if (digest !== digestOf(exchange.body.subarray(0, exchange.sent)))
      this.#find(`${server} has read another body of ${method} ${target}`);
    return true;
  }

  /** When all is over, what no judgement belongs to has been smuggled. */
  async #settle(): Promise<void> {
    for (let tries = 0; tries < 200; tries += 1) {
      this.#compare();
      if (this.#waiting.length === 0 && tries > 20) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    this.#findWaiting();
  }

  #findWaiting(): void {
    for (const one of this.#waiting.slice(0, 10))
      this.#find(`${one.server} has read what was never judged: ${JSON.stringify(one)}`);
  }

  #find(what: string): void {
    if (this.differences.found.length < 20) this.differences.found.push(what);
  }

  #forgetOld(): void {
    if (this.#others.size > 10_000) this.#others.clear();
    const excess = this.#sent.size - 60_000;
    let at = 0;
    for (const key of this.#sent.keys()) {
      if (at++ >= excess) break;
      this.#sent.delete(key);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#fixture[Symbol.asyncDispose]();
  }
}
