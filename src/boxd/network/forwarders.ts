import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { systemCode } from "../../base/errors.ts";
import { type GateDialer, listenerOptions } from "./gate-dial.ts";
import type { NamedAddress, NameTable } from "./name-table.ts";

/** Beyond this, the names unused for longest give their listeners up; they get them back when they are asked for. */
const maxListeners = 2048;

interface Post {
  readonly entry: NamedAddress;
  readonly servers: Map<number, Server>;
  opening: Promise<boolean>;
}

/**
 * Listens where a name's address meets the policy's ports. Not on 0.0.0.0: that would keep the box's own servers
 * (a database on localhost, a development server) from the same ports.
 */
export class Forwarders {
  #ports: readonly number[];
  readonly #names: NameTable;
  readonly #dialer: GateDialer;
  readonly #maxListeners: number;
  /** The least recently asked for first. */
  readonly #posts = new Map<string, Post>();

  constructor(ports: readonly number[], names: NameTable, dialer: GateDialer, listeners = maxListeners) {
    this.#ports = ports;
    this.#names = names;
    this.#dialer = dialer;
    this.#maxListeners = listeners;
  }

  get names(): number {
    return this.#posts.size;
  }

  /** The address for a name, once connections to it are taken; undefined when there is no place for it. */
  async ready(name: string): Promise<string | undefined> {
    const entry = this.#names.take(name);
    if (!entry) return undefined;
    const old = this.#posts.get(entry.address);
    // The address stood for another name before.
    if (old && old.entry !== entry) this.#leave(old);
    const post = old?.entry === entry ? old : { entry, servers: new Map(), opening: Promise.resolve(true) };
    this.#posts.delete(entry.address);
    this.#posts.set(entry.address, post);
    this.#makeRoom();
    post.opening = post.opening.then(() => this.#listen(post));
    return (await post.opening) ? entry.address : undefined;
  }

  /** The policy has changed: names that are known already are reached on the new ports at once. */
  async setPorts(ports: readonly number[]): Promise<void> {
    this.#ports = ports;
    const posts = [...this.#posts.values()];
    for (const { servers } of posts) {
      for (const [port, server] of servers) {
        if (ports.includes(port)) continue;
        server.close();
        servers.delete(port);
      }
    }
    await Promise.all(posts.map((post) => (post.opening = post.opening.then(() => this.#listen(post)))));
  }

  close(): void {
    for (const post of this.#posts.values()) this.#leave(post);
  }

  async #listen(post: Post): Promise<boolean> {
    const missing = this.#ports.filter((port) => !post.servers.has(port));
    const results = await Promise.all(missing.map((port) => this.#listenOn(post, port)));
    if (this.#posts.get(post.entry.address) !== post) this.#leave(post);
    return results.every((isUp) => isUp);
  }

  async #listenOn(post: Post, port: number): Promise<boolean> {
    const { entry, servers } = post;
    const server = createServer(listenerOptions, (client) => {
      this.#names.touch(entry);
      entry.connections += 1;
      this.#dialer.forward(client, { via: "tcp", host: entry.name, port }, () => {
        entry.connections -= 1;
        this.#names.touch(entry);
      });
    });
    try {
      server.listen({ host: entry.address, port });
      await once(server, "listening");
    } catch (error) {
      // A server of the box's own is on this port at every address; the name's other ports still work.
      return systemCode(error) === "EADDRINUSE";
    }
    server.on("error", () => undefined);
    servers.set(port, server);
    return true;
  }

  /** Names with an open connection are not spared: those connections go on without the listener. */
  #makeRoom(): void {
    const maxNames = Math.max(1, Math.floor(this.#maxListeners / Math.max(1, this.#ports.length)));
    for (const post of this.#posts.values()) {
      if (this.#posts.size <= maxNames) return;
      this.#leave(post);
    }
  }

  #leave(post: Post): void {
    if (this.#posts.get(post.entry.address) === post) this.#posts.delete(post.entry.address);
    for (const server of post.servers.values()) server.close();
    post.servers.clear();
  }
}
