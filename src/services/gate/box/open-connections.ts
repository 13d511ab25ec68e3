/** The connections of a box that are open now, by host and port. What has ended is in the records. */
import type { OpenHost } from "../../../contract/network/host-totals.ts";

type LiveBytes = () => { readonly out: number; readonly in: number };

interface OpenConnection {
  readonly host: string;
  readonly port: number;
  readonly sinceMs: number;
  readonly bytes: LiveBytes | undefined;
}

export class OpenConnections {
  readonly #open = new Set<OpenConnection>();

  /** The result says when it closed. `bytes` tells what has passed on it and is in no record yet. */
  add(host: string, port: number, sinceMs: number, bytes?: LiveBytes): () => void {
    const connection = { host, port, sinceMs, bytes };
    this.#open.add(connection);
    return () => void this.#open.delete(connection);
  }

  list(): readonly OpenHost[] {
    const hosts = new Map<string, OpenHost>();
    for (const { host, port, sinceMs, bytes } of this.#open) {
      const key = `${host}:${port}`;
      const { open = 0, bytesOut = 0, bytesIn = 0, sinceMs: known = 0 } = hosts.get(key) ?? {};
      const now = bytes?.() ?? { out: 0, in: 0 };
      hosts.set(key, {
        host,
        port,
        open: open + 1,
        bytesOut: bytesOut + now.out,
        bytesIn: bytesIn + now.in,
        sinceMs: Math.max(known, sinceMs),
      });
    }
    return [...hosts.values()];
  }
}
