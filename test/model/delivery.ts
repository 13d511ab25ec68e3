// Sends a stream of events the way the step says: at once, slowly, cut off half-way, or broken.
import { setTimeout as wait } from "node:timers/promises";
import type { WireEvent } from "./api.ts";
import type { Step } from "./step.ts";
import type { Usage } from "./usage.ts";

/** A way to the client: server-sent events or the frames of a WebSocket. */
export interface Channel {
  send(event: WireEvent): Promise<void>;
  sendGarbage(): Promise<void>;
  /** Breaks the connection without saying goodbye. */
  cut(): void;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
}

export type Outcome = "pending" | "answered" | "failed" | "cut" | "abandoned";

export async function deliver(
  events: readonly WireEvent[],
  step: Step,
  channel: Channel,
  onUsage: (usage: Partial<Usage>) => void,
): Promise<Outcome> {
  const half = Math.ceil(events.length / 2);
  for (const [index, event] of events.entries()) {
    if (index > 0 && step.chunkDelayMs) await pause(step.chunkDelayMs, channel.signal);
    if (index === half && step.fault?.kind === "malformed") await channel.sendGarbage();
    if (index === half && step.fault?.kind === "disconnect") {
      channel.cut();
      return "cut";
    }
    if (channel.signal.aborted) return "abandoned";
    // Counted first, so that a reader of the event finds it counted.
    if (event.usage) onUsage(event.usage);
    await channel.send(event);
  }
  return "answered";
}

/** Ends early, without an error, when the client leaves. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}

/** Until the client leaves. */
export async function hang(signal: AbortSignal): Promise<"abandoned"> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  return "abandoned";
}
