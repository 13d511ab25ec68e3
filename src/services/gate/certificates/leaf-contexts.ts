/** TLS contexts for the names the gate answers for: made when first needed, the longest unused forgotten first. */
import { type SecureContext, createSecureContext } from "node:tls";
import type { Clock } from "../../../base/clock.ts";
import type { CertificateAuthority } from "./certificate-authority.ts";

interface Kept {
  readonly context: SecureContext;
  readonly renewAtMs: number;
}

export class LeafContexts {
  readonly #authority: CertificateAuthority;
  readonly #clock: Clock;
  readonly #max: number;
  readonly #kept = new Map<string, Kept>();

  constructor(authority: CertificateAuthority, clock: Clock, max: number) {
    this.#authority = authority;
    this.#clock = clock;
    this.#max = max;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(host: string): SecureContext {
    let kept = this.#kept.get(host);
    // Back to the end: the first of the map is the one used longest ago.
    if (kept) this.#kept.delete(host);
    if (!kept || kept.renewAtMs <= this.#clock.nowMs()) kept = this.#make(host);
    this.#kept.set(host, kept);
    if (this.#kept.size > this.#max) {
      const [oldest] = this.#kept.keys();
      if (oldest !== undefined) this.#kept.delete(oldest);
    }
    return kept.context;
  }

  #make(host: string): Kept {
    const { keyPem, chainPem, renewAtMs } = this.#authority.issue(host);
    return {
      context: createSecureContext({ key: keyPem, cert: chainPem, minVersion: "TLSv1.2" }),
      renewAtMs,
    };
  }
}
