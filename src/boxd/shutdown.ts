import type { Services } from "./services/services.ts";
import type { Sessions } from "./sessions/sessions.ts";

const lookEveryMs = 20;
const hangUpAfterMs = 1_000;
/** After a kill only the kernel is waited for. */
const killedMs = 1_000;

/** Asks sessions and services to end, the services against the order they started in, and kills what stays. */
export async function stopAll(sessions: Sessions, services: Services, graceMs: number): Promise<void> {
  for (const session of sessions.running) session.signal("SIGTERM");
  services.stopNext();
  const isOver = () => sessions.running.length === 0 && services.running.length === 0;
  const politeMs = Math.min(graceMs / 2, hangUpAfterMs);
  if (await holds(isOver, politeMs)) return;
  // An interactive shell ignores TERM; hanging up is how a terminal says the same.
  for (const session of sessions.running) session.signal("SIGHUP");
  if (await holds(isOver, graceMs - politeMs)) return;
  for (const program of [...sessions.running, ...services.running]) program.signal("SIGKILL");
  await holds(isOver, killedMs);
}

async function holds(condition: () => boolean, withinMs: number): Promise<boolean> {
  const endMs = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() >= endMs) return false;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
  return true;
}
