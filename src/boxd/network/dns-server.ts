import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { DnsWorld } from "./dns-answer.ts";

const maxTcpConnections = 64;
const tcpIdleMs = 10_000;
const maxQueryBytes = 4096;
/** Questions that wait for their listeners; more at once are dropped, as a busy name server would. */
const maxWaiting = 256;

/** Where programs in the box ask for names, over UDP and TCP. */
export class DnsServer {
  readonly #world: DnsWorld;
  readonly #udp: UdpSocket;
  readonly #tcp: Server;
  #loading: Promise<typeof import("./dns-answer.ts")> | undefined;
  #waiting = 0;
  #isClosed = false;

  constructor(world: DnsWorld) {
    this.#world = world;
    // Addresses only: a lookup would load what boxd does not need.
    this.#udp = createSocket({ type: "udp4", lookup: (host, _, found) => found(null, host, 4) });
    this.#udp.on("message", (packet, { address, port }) => void this.#reply(packet, address, port));
    this.#tcp = createServer((socket) => this.#converse(socket));
    this.#tcp.maxConnections = maxTcpConnections;
  }

  async listen(host: string, port: number): Promise<void> {
    // Before, because they may be up at once.
    const isUp = Promise.all([once(this.#udp, "listening"), once(this.#tcp, "listening")]);
    this.#udp.bind(port, host);
    this.#tcp.listen(port, host);
    await isUp;
    for (const server of [this.#udp, this.#tcp]) server.on("error", () => undefined);
  }

  get udpPort(): number {
    return this.#udp.address().port;
  }

  get tcpPort(): number {
    return (this.#tcp.address() as AddressInfo).port;
  }

  close(): void {
    this.#isClosed = true;
    this.#udp.close();
    this.#tcp.close();
  }

  async #reply(packet: Buffer, address: string, port: number): Promise<void> {
    const reply = await this.#answer(packet);
    if (reply && !this.#isClosed) this.#udp.send(reply, port, address, () => undefined);
  }

  async #answer(packet: Buffer): Promise<Buffer | undefined> {
    if (this.#waiting >= maxWaiting || packet.length > maxQueryBytes) return undefined;
    this.#waiting += 1;
    try {
      // Loaded with the first question, to keep it out of the boot.
      this.#loading ??= import("./dns-answer.ts");
      const { answerDns } = await this.#loading;
      return await answerDns(packet, this.#world);
    } catch {
      // Queries that cannot be answered are dropped; the server goes on.
      return undefined;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** One question at a time, each after its length in two bytes. */
  #converse(socket: Socket): void {
    let buffered = Buffer.alloc(0);
    const next = async (): Promise<void> => {
      if (buffered.length < 2) return;
      const length = buffered.readUInt16BE(0);
      if (length > maxQueryBytes) return void socket.destroy();
      if (buffered.length < 2 + length) return;
      const reply = await this.#answer(buffered.subarray(2, 2 + length));
      if (!reply) return void socket.destroy();
      buffered = buffered.subarray(2 + length);
      const head = Buffer.alloc(2);
      head.writeUInt16BE(reply.length);
      socket.write(Buffer.concat([head, reply]));
      return next();
    };
    socket.setTimeout(tcpIdleMs, () => socket.destroy());
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      socket.pause();
      void next().then(() => socket.resume());
    });
  }
}
