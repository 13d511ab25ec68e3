/** Where the page starts: a session first, then everything else. */
import { QueryClientProvider, queryOptions, useQuery } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { isAgentBoxError } from "../../src/base/errors.ts";
import { client } from "./api/client.ts";
import { followEvents } from "./api/live.ts";
import { meQuery, queries } from "./api/queries.ts";
import { claimLink, takeLinkCode } from "./api/session.ts";
import { router } from "./app/routes.tsx";
import { applyTheme } from "./app/theme.ts";
import { ErrorNote, Skeleton } from "./parts/note.tsx";
import { ToastPosition } from "./parts/toast.tsx";
import { SignInPage } from "./sign-in/page.tsx";

applyTheme();

/**
 * Where the log was before anything else was asked for: every change after an answer is then told, and none falls
 * between the answer and the stream.
 */
const startQuery = queryOptions({
  queryKey: ["start"],
  queryFn: async () => (await client.listEvents({ limit: 1, order: "newest" })).lastId,
  staleTime: Infinity,
});

function Dashboard() {
  const { data: start, error } = useQuery(startQuery);
  const isKnown = start !== undefined;
  // The first answer counts; what comes after it is told by the stream.
  useEffect(() => (isKnown ? followEvents(start) : undefined), [isKnown]);
  if (!isKnown) return error ? <ErrorNote error={error} /> : <Skeleton height={480} />;
  return <RouterProvider router={router} />;
}

/** Without a session, this is all a visitor sees. */
function Start({ isLinkRefused }: { isLinkRefused: boolean }) {
  const { data, error } = useQuery(meQuery);
  if (data) return <Dashboard />;
  if (error && isAgentBoxError(error, "access.unauthenticated"))
    return <SignInPage isLinkRefused={isLinkRefused} />;
  if (location.pathname === "/auth/callback") return <SignInPage isLinkRefused={false} />;
  return error ? <ErrorNote error={error} /> : <Skeleton height={480} />;
}

const code = takeLinkCode();
const isClaimed = code === undefined ? undefined : await claimLink(code);

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <ToastPosition>
        <Start isLinkRefused={isClaimed === false} />
      </ToastPosition>
    </QueryClientProvider>
  </StrictMode>,
);
