/**
 * Connections from the gate to servers that are read, kept for the next request of the same box to the same name.
 * No other box ever gets one, and a server must prove its name with a certificate the host trusts.
 */
import type { Agent } from "node:http";
import { type SecureContext, type TLSSocket, connect as connectTls } from "node:tls";
import type { Duplex } from "node:stream";
import { messageOf } from "../../../base/errors.ts";
import { omitUndefined } from "../../../base/omit-undefined.ts";
import type { AddressException } from "../../../contract/network/policy.ts";
import { ReusingAgent } from "../../../host/sockets/reusing-agent.ts";
import { dialFailure } from "./connect.ts";
import type { Dial } from "./dialer.ts";
import type { GateLimits } from "../limits.ts";

export interface Origin {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  readonly exception?: AddressException | undefined;
}

export interface UpstreamsOptions {
  readonly dial: Dial;
  readonly limits: GateLimits;
}

/** More requests than this to one server wait for each other. */
const maxPerOrigin = 256;

export class Upstreams {
  readonly #options: UpstreamsOptions;
  readonly #context: SecureContext;
  readonly #agents = new Map<string, OriginAgent>();

  constructor(options: UpstreamsOptions, context: SecureContext) {
    this.#options = options;
    this.#context = context;
  }

  agent(origin: Origin): Agent {
    const key = `${origin.scheme} ${origin.host} ${origin.port} ${origin.exception?.address ?? ""}`;
    let agent = this.#agents.get(key);
    if (!agent) {
      agent = new OriginAgent(origin, this.#options, this.#context);
      this.#agents.set(key, agent);
      this.#forgetUnused();
    }
    return agent;
  }

  /** After a policy change nothing that was opened under the old one is used again. */
  forget(): void {
    for (const agent of this.#agents.values()) agent.closeIdle();
    this.#agents.clear();
  }

  #forgetUnused(): void {
    if (this.#agents.size <= maxPerOrigin) return;
    for (const [key, agent] of this.#agents) {
      if (agent.isUnused) this.#agents.delete(key);
    }
  }
}

class OriginAgent extends ReusingAgent {
  readonly #origin: Origin;
  readonly #dial: Dial;
  readonly #limits: GateLimits;
  readonly #context: SecureContext;
  #session: Buffer | undefined;

  constructor(origin: Origin, { dial, limits }: UpstreamsOptions, context: SecureContext) {
    super({
      maxSockets: maxPerOrigin,
      maxFreeSockets: limits.upstreamIdleConnections,
      timeout: limits.upstreamIdleMs,
    });
    this.#origin = origin;
    this.#dial = dial;
    this.#limits = limits;
    this.#context = context;
  }

  protected override async open(): Promise<Duplex> {
    const socket = await this.#dial(this.#origin);
    socket.allowHalfOpen = false;
    if (this.#origin.scheme === "http") return socket;
    return await new Promise<TLSSocket>((resolve, reject) => {
      // SECURITY: the certificate is checked against the name that was judged, not against the address.
      const secure = connectTls({
        socket,
        servername: this.#origin.host,
        secureContext: this.#context,
        ALPNProtocols: ["http/1.1"],
        ...omitUndefined({ session: this.#session }),
      });
      const timer = setTimeout(() => secure.destroy(late(this.#origin.host)), this.#limits.handshakeMs);
      secure.on("session", (session: Buffer) => {
        this.#session = session;
      });
      secure.once("error", (error) => {
        clearTimeout(timer);
        socket.destroy();
        reject(dialFailure("unreachable", `TLS to ${this.#origin.host} failed: ${messageOf(error)}.`));
      });
      secure.once("secureConnect", () => {
        clearTimeout(timer);
        secure.removeAllListeners("error");
        resolve(secure);
      });
    });
  }
}

const late = (host: string): Error =>
  dialFailure("unreachable", `${host} did not finish its TLS handshake in time`);
