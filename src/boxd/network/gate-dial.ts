import { connect, type Socket } from "node:net";
import { RelayBuffers } from "../../base/relay-buffers.ts";
import { encodeJson } from "../../contract/link/codec.ts";
import type { Hello } from "../../contract/link/messages.ts";
import { linkProtocol } from "../../contract/link/protocol.ts";
import type { ProgramFinder } from "./program-finder.ts";

const connectMs = 10_000;
/** The host cuts off a box with many connections that have not said what they are for. */
const maxDialing = 32;
/** How much of one connection is kept in each direction; the kernel's buffers come on top. */
const streamBytes = 256 * 1024;

/** The purpose of a program's connection: a name and port it connected to, the proxy, or the keys of the host. */
export type Destination =
  | { readonly via: "tcp"; readonly host: string; readonly port: number }
  | { readonly via: "proxy" | "ssh-agent" };

/** The listeners' options: no byte is read before the gate is there to take it. */
export const listenerOptions = {
  allowHalfOpen: true,
  pauseOnConnect: true,
  noDelay: true,
  highWaterMark: streamBytes,
} as const;

/** Takes programs' connections to the gate: one dialled connection each, and from then on their bytes, unchanged. */
export class GateDialer {
  readonly #linkSocket: string;
  readonly #programs: Pick<ProgramFinder, "find">;
  readonly #maxConnections: number;
  readonly #queue: (() => void)[] = [];
  readonly #buffers = new RelayBuffers();
  #dialing = 0;
  #open = 0;

  constructor(linkSocket: string, programs: Pick<ProgramFinder, "find">, maxConnections = 512) {
    this.#linkSocket = linkSocket;
    this.#programs = programs;
    this.#maxConnections = maxConnections;
  }

  get open(): number {
    return this.#open;
  }

  /** `closed` is called once, when both directions are over. */
  forward(client: Socket, destination: Destination, closed: () => void = () => undefined): void {
    client.on("error", () => undefined);
    if (this.#open >= this.#maxConnections) {
      client.resetAndDestroy();
      return closed();
    }
    this.#open += 1;
    const isOver = (): void => {
      this.#open -= 1;
      closed();
    };
    this.#queue.push(() => (client.destroyed ? isOver() : this.#dial(client, destination, isOver)));
    this.#dialNext();
  }

  #dialNext(): void {
    while (this.#dialing < maxDialing && this.#queue.length > 0) this.#queue.shift()!();
  }

  #dial(client: Socket, destination: Destination, isOver: () => void): void {
    const program = this.#programs.find(client);
    const hello = { role: "gate", protocol: linkProtocol, ...destination, program } satisfies Hello;
    const onread = this.#buffers.into(client);
    const options = { path: this.#linkSocket, allowHalfOpen: true, highWaterMark: streamBytes, onread };
    const link = connect(options);
    this.#dialing += 1;
    const timer = setTimeout(() => link.destroy(new Error("the host does not answer")), connectMs);
    let isDialing = true;
    const isDialled = (): void => {
      if (!isDialing) return;
      isDialing = false;
      clearTimeout(timer);
      this.#dialing -= 1;
      this.#dialNext();
    };
    link.write(encodeJson(hello), isDialled);
    let parts = 2;
    const partClosed = (): void => {
      isDialled();
      parts -= 1;
      if (parts === 0) isOver();
    };
    link.on("close", partClosed);
    client.on("close", partClosed);
    join(client, link);
  }
}

/** Bytes both ways with back pressure. An end is passed on as an end, a failure as a failure. */
function join(client: Socket, link: Socket): void {
  client.pipe(link);
  client.on("drain", () => link.resume());
  link.once("end", () => client.end());
  link.on("error", () => client.resetAndDestroy());
  link.on("close", () => client.destroySoon());
  client.on("error", () => link.destroy());
  client.on("close", () => link.destroySoon());
}
