import { queryOptions } from "@tanstack/react-query";
import type { SessionStatus } from "../../../src/contract/link/messages.ts";
import { client } from "../api/client.ts";

export const sessionsQuery = (box: string) =>
  queryOptions({
    queryKey: ["box", box, "sessions"],
    queryFn: async () => (await client.listSessions(box)).sessions,
  });

/** The session to show first: the agent's own, or else the one that was started last. */
export function firstSession(sessions: readonly SessionStatus[]): string | undefined {
  const main = sessions.find(({ id }) => id === "main");
  return (main ?? sessions.toSorted((a, b) => b.startedAtMs - a.startedAtMs)[0])?.id;
}

/** The lowest number that is free. */
export function nextShellName(sessions: readonly Pick<SessionStatus, "id">[]): string {
  const taken = new Set(sessions.map(({ id }) => id));
  let number = 1;
  while (taken.has(`shell-${number}`)) number += 1;
  return `shell-${number}`;
}
