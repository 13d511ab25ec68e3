/** Every address of the dashboard. A page's code is loaded when it is first opened. */
import {
  Outlet,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from "@tanstack/react-router";
import { boxQuery, newestTalkQuery, queries } from "../api/queries.ts";
import { Empty, ErrorNote, Skeleton } from "../parts/note.tsx";
import { Shell } from "./shell.tsx";

const root = createRootRoute({
  component: () => (
    <Shell onArrival={loadBoxPage}>
      <Outlet />
    </Shell>
  ),
  notFoundComponent: () => (
    <Empty title="There is no such page">
      <p>The address may be mistyped, or from another version.</p>
    </Empty>
  ),
});

const page = <P extends string>(path: P, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component });

/**
 * The fields that a deep link may fill in. SECURITY: it only fills the form; the box is made when the user presses a
 * button.
 */
const text = (value: unknown) => (typeof value === "string" ? value.slice(0, 4_096) : undefined);

const newBox = createRoute({
  getParentRoute: () => root,
  path: "/new",
  component: lazyRouteComponent(() => import("../new-box/page.tsx"), "NewBoxPage"),
  validateSearch: (search: Record<string, unknown>) => ({
    agent: text(search["agent"]),
    project: text(search["project"]),
    task: text(search["task"]),
  }),
});

const box = createRoute({
  getParentRoute: () => root,
  path: "/box/$name",
  // Asked for while the code of the page is on its way, so that neither waits for the other; the page says what fails.
  loader: ({ params: { name } }) => void queries.prefetchQuery(boxQuery(name)),
  component: lazyRouteComponent(() => import("../box/layout.tsx"), "BoxLayout"),
});
const tab = <P extends string>(path: P, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => box, path, component });

const conversation = createRoute({
  getParentRoute: () => box,
  path: "/",
  loader: ({ params: { name } }) => void queries.prefetchQuery(newestTalkQuery(name)),
  component: lazyRouteComponent(() => import("../conversation/page.tsx"), "BoxPage"),
  validateSearch(search: Record<string, unknown>): { turn?: number } {
    const turn = Number(search["turn"]);
    return Number.isSafeInteger(turn) && turn > 0 ? { turn } : {};
  },
});

const review = createRoute({
  getParentRoute: () => box,
  path: "/review",
  component: lazyRouteComponent(() => import("../review/page.tsx"), "ReviewPage"),
  /** Which checkpoints are compared, as the conversation links to what one turn has changed. */
  validateSearch(search: Record<string, unknown>): { from?: string; to?: string } {
    const number = (value: unknown) => (/^\d{1,6}$/.test(String(value)) ? String(value) : undefined);
    const [from, to] = [number(search["from"]), number(search["to"])];
    return { ...(from ? { from } : {}), ...(to ? { to } : {}) };
  },
});

const files = createRoute({
  getParentRoute: () => box,
  path: "/files",
  component: lazyRouteComponent(() => import("../files-and-services/files.tsx"), "FilesPage"),
  validateSearch(search: Record<string, unknown>): { dir?: string; file?: string } {
    const [dir, file] = [text(search["dir"]), text(search["file"])];
    return { ...(dir ? { dir } : {}), ...(file ? { file } : {}) };
  },
});

const tree = root.addChildren([
  page(
    "/",
    lazyRouteComponent(() => import("../fleet/page.tsx"), "FleetPage"),
  ),
  newBox,
  page(
    "/inbox",
    lazyRouteComponent(() => import("../inbox/page.tsx"), "InboxPage"),
  ),
  page(
    "/review",
    lazyRouteComponent(() => import("../review/queue/page.tsx"), "QueuePage"),
  ),
  page(
    "/queue",
    lazyRouteComponent(() => import("../queue/page.tsx"), "TaskQueuePage"),
  ),
  page(
    "/races",
    lazyRouteComponent(() => import("../review/queue/races.tsx"), "RacesPage"),
  ),
  page(
    "/race/$name",
    lazyRouteComponent(() => import("../review/queue/races.tsx"), "RacePage"),
  ),
  page(
    "/terminals",
    lazyRouteComponent(() => import("../terminal/page.tsx"), "TerminalGridPage"),
  ),
  page(
    "/cost",
    lazyRouteComponent(() => import("../cost/page.tsx"), "CostPage"),
  ),
  page(
    "/vault",
    lazyRouteComponent(() => import("../vault/page.tsx"), "VaultPage"),
  ),
  page(
    "/settings",
    lazyRouteComponent(() => import("../settings/page.tsx"), "SettingsPage"),
  ),
  page(
    "/auth/callback",
    lazyRouteComponent(() => import("../sign-in/page.tsx"), "CallbackPage"),
  ),
  box.addChildren([
    conversation,
    tab(
      "/overview",
      lazyRouteComponent(() => import("../box/page.tsx"), "OverviewPage"),
    ),
    tab(
      "/terminal",
      lazyRouteComponent(() => import("../terminal/page.tsx"), "TerminalPage"),
    ),
    tab(
      "/timeline",
      lazyRouteComponent(() => import("../box/timeline.tsx"), "TimelinePage"),
    ),
    tab(
      "/network",
      lazyRouteComponent(() => import("../box/network.tsx"), "NetworkPage"),
    ),
    files,
    tab(
      "/services",
      lazyRouteComponent(() => import("../files-and-services/services.tsx"), "ServicesPage"),
    ),
    tab(
      "/resources",
      lazyRouteComponent(() => import("../box/resources.tsx"), "ResourcesPage"),
    ),
    review,
    tab(
      "/settings",
      lazyRouteComponent(() => import("../box/settings.tsx"), "BoxSettingsPage"),
    ),
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPendingComponent: () => <Skeleton height={480} />,
  defaultPendingMs: 0,
  defaultErrorComponent: ({ error }) => <ErrorNote error={error} />,
  scrollRestoration: true,
});

/** The page that is opened most: its code is fetched when the first one stands, so that a click need not wait for it. */
function loadBoxPage(): void {
  for (const route of [box, conversation]) router.loadRouteChunk(route)?.catch(() => undefined);
}

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
