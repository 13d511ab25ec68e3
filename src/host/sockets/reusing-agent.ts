/** Node's HTTP agent for one server, with the rule of socket-use.ts in the place of Node's own for what is kept. */
import { Agent, type AgentOptions, type ClientRequest, type ClientRequestArgs } from "node:http";
import type { Duplex } from "node:stream";
import { systemCode } from "../../base/errors.ts";
import { WatchedSocket } from "./socket-use.ts";

/**
 * Whether a request failed because the server had closed the connection that was kept. SECURITY: not after an answer that
 * cannot be read, because then the server has done what was asked.
 */
export const wasStale = ({ reusedSocket }: ClientRequest, error: unknown): boolean =>
  reusedSocket && ["ECONNRESET", "EPIPE"].includes(systemCode(error) ?? "");

export abstract class ReusingAgent extends Agent {
  readonly #watched = new WeakMap<Duplex, WatchedSocket>();

  constructor(options: AgentOptions) {
    super({ ...options, keepAlive: true, scheduling: "lifo" });
    // SECURITY: before Node's own listener, which may give a socket to a waiting request without any condition.
    this.prependListener("free", (socket: Duplex) => {
      if (this.#watched.get(socket)?.release() !== true) socket.destroy();
    });
  }

  /** A new connection to the server, ready for a request. */
  protected abstract open(): Promise<Duplex>;

  get isUnused(): boolean {
    return Object.keys(this.sockets).length + Object.keys(this.freeSockets).length === 0;
  }

  closeIdle(): void {
    for (const sockets of Object.values(this.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy();
    }
    // The connections in use are closed when their requests are over.
    this.maxFreeSockets = 0;
  }

  /** All connections of this agent go to one place, so none needs a name to be told apart. */
  override getName(): string {
    return "";
  }

  override createConnection(
    _options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    const deliver = callback as (error: Error | null, stream?: Duplex) => void;
    this.open().then(
      (socket) => {
        this.#watch(socket);
        deliver(null, socket);
      },
      (error: Error) => deliver(error),
    );
    return undefined;
  }

  #watch(socket: Duplex): void {
    const watched = new WatchedSocket(socket, () => this.#forget(socket));
    this.#watched.set(socket, watched);
    // Node's word for a connection that has turned into another protocol.
    socket.once("agentRemove", () => watched.leave());
  }

  /** Node takes a destroyed socket out when it is closed, which is later than the next request may come. */
  #forget(socket: Duplex): void {
    for (const sockets of Object.values(this.freeSockets)) {
      const at = sockets?.indexOf(socket as NonNullable<typeof sockets>[number]) ?? -1;
      if (at !== -1) sockets?.splice(at, 1);
    }
    socket.destroy();
  }
}
