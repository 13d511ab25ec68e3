import type { Client } from "../../client/index.ts";
import type { Screen } from "../render/screen.ts";

const bell = "\u0007";

type EventSource = Pick<Client, "listEvents" | "followEvents">;

/**
 * Rings the terminal when the box asks for a person. The screen belongs to the agent, so nothing is drawn into it;
 * the question itself is in `agentbox approvals`. Never a reason for the session to fail.
 */
export function ringOnQuestions(client: EventSource, screen: Screen, box: string): Disposable {
  const closing = new AbortController();
  void follow(client, screen, box, closing.signal).catch(() => undefined);
  return { [Symbol.dispose]: () => closing.abort() };
}

async function follow(client: EventSource, screen: Screen, box: string, signal: AbortSignal): Promise<void> {
  const { lastId: after } = await client.listEvents({ limit: 1, order: "newest" });
  for await (const event of client.followEvents({ box, type: "approval.asked", after }, signal)) {
    if (signal.aborted) return;
    if (event.type === "approval.asked") screen.streams.stdout.write(bell);
  }
}
