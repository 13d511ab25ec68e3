/** The queries of the pages, by key. live.ts says which events make which keys stale. */
import { QueryClient, queryOptions } from "@tanstack/react-query";
import { isAgentBoxError } from "../../../src/base/errors.ts";
import { client } from "./client.ts";

const isFinal = (error: unknown) => isAgentBoxError(error) && !error.isRetryable;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say when something is stale; a window that comes to the front need not ask again for all of it.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => count < 2 && !isFinal(error),
    },
  },
});

export const meQuery = queryOptions({ queryKey: ["me"], queryFn: () => client.getMe(), staleTime: 60_000 });
export const boxesQuery = queryOptions({ queryKey: ["boxes"], queryFn: () => client.listBoxes() });
export const boxQuery = (name: string) =>
  queryOptions({ queryKey: ["box", name], queryFn: () => client.getBox(name) });
/** The newest part of the conversation, which the page shows first. */
export const newestTalkQuery = (name: string) =>
  queryOptions({
    queryKey: ["box", name, "newest-talk"],
    queryFn: () => client.getConversation(name, { limit: 200 }),
    gcTime: 10_000,
  });
export const budgetQuery = (name: string) =>
  queryOptions({ queryKey: ["box", name, "budget"], queryFn: () => client.getBudget(name) });
export const queueQuery = queryOptions({ queryKey: ["queue"], queryFn: () => client.listQueue() });
export const approvalsQuery = queryOptions({
  queryKey: ["approvals"],
  queryFn: () => client.listApprovals(),
});
export const missedApprovalsQuery = queryOptions({
  queryKey: ["approvals", "missed"],
  queryFn: () => client.listMissedApprovals(),
});
export const agentsQuery = queryOptions({ queryKey: ["agents"], queryFn: () => client.listAgents() });
export const templatesQuery = queryOptions({
  queryKey: ["templates"],
  queryFn: () => client.listTemplates(),
});
export const projectsQuery = queryOptions({ queryKey: ["projects"], queryFn: () => client.listProjects() });
