/** Sign-ins that have begun and wait for their answer. Each is bound to one browser and is there for one try. */
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import type { SignInChecks } from "../../ports/identity.ts";
import { EventBudget } from "../network/event-budget.ts";
import { digestOf, freshCredential, isSameDigest } from "../access/credential.ts";

const lifeMs = 10 * 60_000;
/**
 * SECURITY: no one must be able to push out another person's sign-in: there is room for all that can begin in ten
 * minutes.
 */
const beginningsPerMinute = 150;
const maxOpen = 2_000;

interface Transaction {
  readonly checks: SignInChecks;
  readonly cookieDigest: string;
  readonly secretDigest: string;
  readonly untilMs: number;
}

/** The two halves that only the browser that began has. */
export interface BrowserProof {
  /** Every cookie of the name: another server on this host may have set one of its own. */
  readonly cookies: readonly string[];
  readonly secret: string;
}

export class TeamTransactions {
  readonly #clock: () => Clock;
  readonly #open = new Map<string, Transaction>();
  readonly #budget: EventBudget;

  constructor(clock: () => Clock) {
    this.#clock = clock;
    this.#budget = new EventBudget(clock, beginningsPerMinute);
  }

  /** Before the provider is asked for anything. */
  admit(): void {
    const nowMs = this.#clock().monotonicMs();
    for (const [state, { untilMs }] of this.#open) if (untilMs <= nowMs) this.#open.delete(state);
    if (this.#open.size < maxOpen && this.#budget.take("all")) return;
    throw new AgentBoxError("access.too_many", "Too many sign-ins have begun.", { hint: "Wait a minute." });
  }

  add(checks: SignInChecks): { readonly cookie: string; readonly secret: string } {
    const [cookie, secret] = [freshCredential(), freshCredential()];
    this.#open.set(checks.state, {
      checks,
      cookieDigest: digestOf(cookie),
      secretDigest: digestOf(secret),
      untilMs: this.#clock().monotonicMs() + lifeMs,
    });
    return { cookie, secret };
  }

  /**
   * SECURITY: used up by the first try (replay), and only for the browser that began: otherwise an attacker could make
   * another person's browser sign in as the attacker (login CSRF), or bring an answer that they intercepted.
   */
  take(state: string, { cookies, secret }: BrowserProof): SignInChecks {
    const found = this.#open.get(state);
    this.#open.delete(state);
    const isCurrent = found !== undefined && found.untilMs > this.#clock().monotonicMs();
    if (!isCurrent) throw refused("This sign-in is not known, has been used, or took too long.");
    const isSameBrowser = cookies.slice(0, 8).some((one) => isSameDigest(digestOf(one), found.cookieDigest));
    if (!isSameBrowser || !isSameDigest(digestOf(secret), found.secretDigest))
      throw refused("This sign-in was begun in another browser or another tab.");
    return found.checks;
  }
}

const refused = (message: string): AgentBoxError =>
  new AgentBoxError("sign_in.refused", message, { hint: "Begin again, and finish in the same tab." });
