/** The shared part of the two ways to sign in: how they begin, and how they hand over the tokens. */
import type { CallbackOutcome } from "./callback-listener.ts";
import type { Provider } from "./provider.ts";
import type { SignInPlan } from "./sign-in-plan.ts";

export interface FlowContext {
  readonly plan: SignInPlan;
  readonly provider: Provider;
  /** Takes the service's answer when there is one; keeps the tokens, and says how the sign-in ended. Never fails. */
  readonly settle: (obtain: () => Promise<unknown>) => Promise<CallbackOutcome>;
}

/** A sign-in that waits for a person. */
export interface BegunFlow {
  readonly url: string;
  readonly userCode?: string;
  readonly lifetimeMs: number;
  /** Waits no longer; nothing that comes later is taken. */
  close(): void;
}

/** How long a person has. */
export const maxLifetimeMs = 10 * 60_000;
