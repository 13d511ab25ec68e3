/**
 * Values from elsewhere, kept in memory for as long as their secret says. However many ask at once, a source is read
 * once; a value is zeros as soon as its time is over, its secret has changed, or the vault is locked.
 */
import type { Clock } from "../../base/clock.ts";
import { canonicalJson } from "../../base/digest.ts";
import type { SecretFacts } from "./document.ts";
import { type SourceReaderOptions, readSource } from "./source-reader.ts";

interface Held {
  readonly reading: Promise<Buffer>;
  value: Buffer | undefined;
  readonly forget: () => void;
}

export class OutsideValues {
  readonly #clock: Clock;
  readonly #options: SourceReaderOptions;
  /** By name and source: another source under the same name is another value. */
  readonly #held = new Map<string, Held>();

  constructor(clock: Clock, options: SourceReaderOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  async read(secret: SecretFacts): Promise<Buffer> {
    const key = canonicalJson([secret.name, secret.kind, secret.source, secret.createdAtMs]);
    const held = this.#held.get(key) ?? this.#hold(key, secret);
    // A copy, because ours becomes zeros; at once where it is there, or it might be zeros by then.
    return Buffer.from(held.value ?? (await held.reading));
  }

  /** Of one secret, or of all. */
  forget(name?: string): void {
    for (const [key, { forget }] of this.#held) {
      if (name === undefined || key.startsWith(canonicalJson([name]).slice(0, -1) + ",")) forget();
    }
  }

  #hold(key: string, secret: SecretFacts): Held {
    const ending = new AbortController();
    let cancelTimer = () => {};
    let isForgotten = false;
    const held: Held = {
      reading: readSource(secret, this.#options, ending.signal),
      value: undefined,
      forget: () => {
        isForgotten = true;
        if (this.#held.get(key) === held) this.#held.delete(key);
        ending.abort();
        cancelTimer();
        // Those who waited for it have been called already, and copy it first.
        queueMicrotask(() => held.value?.fill(0));
      },
    };
    this.#held.set(key, held);
    held.reading.then(
      (value) => {
        held.value = value;
        if (isForgotten || secret.cacheMs === 0) held.forget();
        else cancelTimer = this.#clock.after(secret.cacheMs, held.forget);
      },
      () => held.forget(),
    );
    return held;
  }
}
