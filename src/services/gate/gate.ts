/** The gate of ports/gate.ts: knows the boxes, takes their connections in and gives each to a passage or the edge. */
import type { SecureContext } from "node:tls";
import type { Duplex } from "node:stream";
import { printable } from "../../base/printable.ts";
import { RelayBuffers } from "../../base/relay-buffers.ts";
import type { OpenHost } from "../../contract/network/host-totals.ts";
import type { NetworkPolicy } from "../../contract/network/policy.ts";
import type { Gate, GateBox, GateConnection } from "../../ports/gate.ts";
import type { SshKeys } from "../../ports/ssh-keys.ts";
import { parseAuthority } from "./arrivals/authority.ts";
import { BoxEgress, type BoxEgressOptions } from "./box/box-egress.ts";
import type { Caller } from "./arrivals/caller.ts";
import { denialText } from "./exchange/denial.ts";
import type { Dial } from "./servers/dialer.ts";
import { type AcceptConnect, HttpEdge } from "./arrivals/http-edge.ts";
import type { LeafContexts } from "./certificates/leaf-contexts.ts";
import { Passage, type PassageRequest } from "./arrivals/passage.ts";
import { Upstreams } from "./servers/upstreams.ts";

export interface HostGateOptions extends BoxEgressOptions {
  readonly dial: Dial;
  readonly leaves: LeafContexts;
  readonly serverTrust: SecureContext;
  readonly trustFiles: Gate["trustFiles"];
  readonly boxEnv: Gate["boxEnv"];
  readonly sshKeys?: SshKeys | undefined;
}

interface KnownBox {
  readonly egress: BoxEgress;
  readonly upstreams: Upstreams;
  readonly sockets: Set<Duplex>;
}

export class HostGate implements Gate {
  readonly trustFiles: Gate["trustFiles"];
  readonly boxEnv: Gate["boxEnv"];
  readonly #options: HostGateOptions;
  readonly #edge: HttpEdge;
  readonly #boxes = new Map<string, KnownBox>();
  readonly #buffers = new RelayBuffers();

  constructor(options: HostGateOptions) {
    this.#options = options;
    this.trustFiles = options.trustFiles;
    this.boxEnv = options.boxEnv;
    this.#edge = new HttpEdge({
      limits: options.limits,
      leaves: options.leaves,
      onConnect: (caller, connect, socket) => this.#connect(caller, connect, socket),
    });
  }

  setPolicy(box: GateBox, policy: NetworkPolicy): void {
    const known = this.#boxes.get(box.name);
    if (known && known.egress.box.incarnation === box.incarnation) {
      known.upstreams.forget();
      known.egress.setPolicy(policy);
      return;
    }
    // The same name, but another box: nothing of the old one may go on.
    if (known) this.drop(box.name);
    this.#boxes.set(box.name, {
      egress: new BoxEgress(box, policy, this.#options),
      upstreams: new Upstreams(this.#options, this.#options.serverTrust),
      sockets: new Set(),
    });
  }

  drop(box: string): void {
    const known = this.#boxes.get(box);
    if (!known) return;
    this.#boxes.delete(box);
    known.egress.end();
    known.upstreams.forget();
    for (const socket of known.sockets) socket.destroy();
  }

  openHosts(box: string): readonly OpenHost[] {
    return this.#boxes.get(box)?.egress.openHosts() ?? [];
  }

  closeInjected(box: string, secret?: string): void {
    this.#boxes.get(box)?.egress.closeInjected(secret);
  }

  serve(box: string, connection: GateConnection): void {
    const { socket, via, program } = connection;
    socket.on("error", () => undefined);
    const host = connection.host ?? "";
    const port = connection.port ?? 0;
    const known = this.#boxes.get(box);
    if (!known) return this.#refuseStranger(box, connection);
    const leave = known.egress.admit({ via, program, host, port });
    if (leave === undefined) return void socket.destroy();
    known.sockets.add(socket);
    socket.once("close", () => {
      known.sockets.delete(socket);
      leave();
    });
    const { egress, upstreams } = known;
    if (via === "ssh-agent") {
      if (this.#options.sshKeys) this.#options.sshKeys.serve(box, socket);
      else socket.destroy();
    } else if (via === "proxy") {
      this.#edge.accept(socket, { egress, upstreams, via, program, wasApproved: false, active: 0 });
    } else if (host === "" || port === 0) {
      egress.record({ via, program, host, port, reason: "malformed" });
      socket.destroy();
    } else this.#pass(known, { client: socket, via, program, host, port });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const box of this.#boxes.keys()) this.drop(box);
    this.#edge.close();
  }

  #pass({ egress, upstreams }: Pick<KnownBox, "egress" | "upstreams">, request: PassageRequest): void {
    const { dial, limits, logger } = this.#options;
    const passage = new Passage(
      { egress, upstreams, edge: this.#edge, dial, limits, buffers: this.#buffers },
      request,
    );
    passage.run().catch((error: unknown) => {
      // SECURITY: an error we did not think of closes the connection; it never lets it through.
      logger.error({ box: egress.box.name, error: String(error) }, "a connection out of a box failed");
      request.client.destroy();
    });
  }

  #connect(caller: Caller, { authority, userAgent }: Parameters<AcceptConnect>[1], socket: Duplex): void {
    const { egress, upstreams, via, program } = caller;
    const hasPort = /:\d{1,5}$/.test(authority);
    const target = hasPort ? parseAuthority(authority, 0) : undefined;
    if (target !== undefined) {
      return this.#pass({ egress, upstreams }, { client: socket, via, program, userAgent, ...target });
    }
    const host = printable(authority.slice(0, 255));
    egress.record({ via, program, host, port: 0, method: "CONNECT", reason: "malformed" });
    const denial = { box: egress.box.name, host, port: 0, method: "CONNECT", reason: "malformed" } as const;
    socket.end(denialText(denial), () => socket.destroy());
  }

  /** A box without a policy reaches nothing, and that is a decision too. */
  #refuseStranger(box: string, { socket, via, program, host, port }: GateConnection): void {
    this.#options.listener.record({
      atMs: this.#options.clock.nowMs(),
      box,
      incarnation: "",
      program: program === undefined ? undefined : printable(program),
      via,
      host: printable((host ?? "").slice(0, 255)),
      port: port ?? 0,
      verdict: "deny",
      reason: "policy_error",
      bytesOut: 0,
      bytesIn: 0,
    });
    socket.destroy();
  }
}
