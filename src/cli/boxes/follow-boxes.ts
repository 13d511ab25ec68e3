/** When a list of boxes is worth reading again. */
import { AgentBoxError } from "../../base/errors.ts";
import type { Client } from "../../client/index.ts";

/** States that follow from the clock, such as a stuck agent, have no event of their own. */
const quietMs = 2_000;
/** Many events at once are one reason to look. */
const gatherMs = 100;

/** Yields at once and after everything that happens, and now and then in between; ends only by being left. */
export async function* followBoxes(client: Client): AsyncGenerator<void> {
  const leaving = new AbortController();
  let isDue = true;
  let failure: unknown;
  let wake = (): void => undefined;
  const { lastId } = await client.listEvents({ limit: 1, order: "newest" });
  const follow = async (): Promise<void> => {
    for await (const _event of client.followEvents({ after: lastId }, leaving.signal)) {
      isDue = true;
      wake();
    }
    throw new AgentBoxError("daemon.unreachable", "The daemon has ended.", {
      hint: "Its boxes go on. Start it again: agentbox daemon start",
    });
  };
  follow().catch((error: unknown) => {
    failure = error;
    wake();
  });
  try {
    for (;;) {
      isDue = false;
      yield;
      if (!isDue && failure === undefined) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, quietMs);
        });
        clearTimeout(timer);
      }
      if (failure !== undefined) throw failure;
      await new Promise((resolve) => setTimeout(resolve, gatherMs));
    }
  } finally {
    leaving.abort();
  }
}
