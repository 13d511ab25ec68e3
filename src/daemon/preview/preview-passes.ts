import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../base/clock.ts";

/** Whom a preview was opened for, asked again with every request. */
export interface PreviewHolder {
  /** For the log: who it is. */
  readonly who: string;
  /** Whether they are still signed in, and may still use the box. */
  isAllowed(): boolean;
  /** Calls back when what they signed in with ends; returns the way to let go. */
  hold(end: () => void): () => void;
}

export interface PreviewGrant {
  readonly box: string;
  readonly incarnation: string;
  readonly port: number;
  readonly holder: PreviewHolder;
  readonly expiresAtMs: number;
}

const passMs = 5 * 60_000;
const grantMs = 12 * 3_600_000;
/** More than one person opens; the oldest go first. */
const maxKept = 1_000;

const digest = (value: string): string => createHash("sha256").update(value).digest("base64url");

/** One-time passes, and the cookies that they become. In memory only: a daemon that starts again knows none. */
export class PreviewPasses {
  readonly #clock: Clock;
  readonly #passes = new Map<string, PreviewGrant>();
  readonly #cookies = new Map<string, PreviewGrant>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(grant: Omit<PreviewGrant, "expiresAtMs">): { pass: string; expiresAtMs: number } {
    const expiresAtMs = this.#clock.nowMs() + passMs;
    return { pass: keep(this.#passes, { ...grant, expiresAtMs }), expiresAtMs };
  }

  /** Works once, for the box and port it was made for. */
  claim(
    pass: string,
    target: { box: string; port: number },
  ): { cookie: string; grant: PreviewGrant } | undefined {
    const grant = this.#take(this.#passes, pass, target);
    if (!grant) return undefined;
    this.#passes.delete(digest(pass));
    const lasting = { ...grant, expiresAtMs: this.#clock.nowMs() + grantMs };
    return { cookie: keep(this.#cookies, lasting), grant: lasting };
  }

  /** SECURITY: a box's page can add cookies of its own beside ours, so any of several may be the right one. */
  find(cookies: readonly string[], target: { box: string; port: number }): PreviewGrant | undefined {
    for (const cookie of cookies) {
      const grant = this.#take(this.#cookies, cookie, target);
      if (grant) return grant;
    }
    return undefined;
  }

  #take(
    from: ReadonlyMap<string, PreviewGrant>,
    value: string,
    { box, port }: { box: string; port: number },
  ): PreviewGrant | undefined {
    const grant = from.get(digest(value));
    const isFit = grant?.box === box && grant.port === port && grant.expiresAtMs > this.#clock.nowMs();
    return isFit ? grant : undefined;
  }
}

function keep(into: Map<string, PreviewGrant>, grant: PreviewGrant): string {
  const value = randomBytes(32).toString("base64url");
  into.set(digest(value), grant);
  for (const oldest of into.keys()) {
    if (into.size <= maxKept) break;
    into.delete(oldest);
  }
  return value;
}
