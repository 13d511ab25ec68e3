/** One name of the policy's world and the loopback address that stands for it in this box. */
export interface NamedAddress {
  readonly name: string;
  readonly address: string;
  /** Connections that are open now; an address with one is never given to another name. */
  connections: number;
  usedAtMs: number;
}

export interface NameTableOptions {
  readonly capacity: number;
  readonly reuseAfterMs: number;
  readonly nowMs: () => number;
}

const defaults: NameTableOptions = {
  capacity: 65_536,
  reuseAfterMs: 10 * 60_000,
  nowMs: () => performance.now(),
};

/** 127.64.0.0/10, of which as many addresses are used as the table has entries. */
const firstAddress = 0x7f40_0001;
const dotted = (address: number): string =>
  [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join(".");

/**
 * The addresses that stand for names. The same name has the same address for as long as a program can still mean it: an
 * address moves to another name only after ten minutes without a query or a connection.
 */
export class NameTable {
  readonly #options: NameTableOptions;
  /** The least recently used first. */
  readonly #byName = new Map<string, NamedAddress>();
  readonly #byAddress = new Map<string, NamedAddress>();

  constructor(options: Partial<NameTableOptions> = {}) {
    this.#options = { ...defaults, ...options };
  }

  get size(): number {
    return this.#byName.size;
  }

  /** Undefined when every address is still in use: a flood of names gets no address, and takes none from others. */
  take(name: string): NamedAddress | undefined {
    const known = this.#byName.get(name);
    if (known) {
      this.touch(known);
      return known;
    }
    const address = this.#freeAddress();
    if (address === undefined) return undefined;
    const entry = { name, address, connections: 0, usedAtMs: this.#options.nowMs() };
    this.#byName.set(name, entry);
    this.#byAddress.set(address, entry);
    return entry;
  }

  nameAt(address: string): string | undefined {
    return this.#byAddress.get(address)?.name;
  }

  touch(entry: NamedAddress): void {
    entry.usedAtMs = this.#options.nowMs();
    if (!this.#byName.delete(entry.name)) return;
    this.#byName.set(entry.name, entry);
  }

  #freeAddress(): string | undefined {
    if (this.#byName.size < this.#options.capacity) return dotted(firstAddress + this.#byName.size);
    for (const entry of this.#byName.values()) {
      if (entry.usedAtMs + this.#options.reuseAfterMs > this.#options.nowMs()) return undefined;
      if (entry.connections > 0) {
        // In use now, therefore not old; it is not looked at again for as long as any other.
        this.touch(entry);
        continue;
      }
      this.#byName.delete(entry.name);
      this.#byAddress.delete(entry.address);
      return entry.address;
    }
    return undefined;
  }
}
