/** Ground for tests of all pages: a daemon with boxes in different states, and every address of the dashboard. */
import { type TestDaemon, type TestDaemonOptions, startDaemon } from "./daemon.ts";
import { makeProject, worked, working } from "./review.ts";

/** A box that runs, and one whose work waits for a review. */
export const liveBox = "shop-web-live";
export const doneBox = "shop-web-done";

const changes = `
  printf 'export const line1 = 100;\\n' > src/cart.js
  mkdir -p .github/workflows
  printf 'on: push\\njobs: {}\\n' > .github/workflows/ci.yml
  printf '{"scripts":{"postinstall":"node x.js"}}\\n' > package.json`;

export async function startWebGround(options: TestDaemonOptions = {}): Promise<TestDaemon> {
  const daemon = await startDaemon(options);
  const project = await makeProject(daemon);
  await worked(daemon, project, doneBox, changes);
  await working(daemon, project, liveBox, "echo hello > hello.txt");
  await daemon.client.startSession(liveBox, {
    session: "shell",
    spec: { argv: ["sh"], terminal: true, cols: 80, rows: 24 },
  });
  return daemon;
}

/** Every address of the dashboard. */
export const addresses: readonly string[] = [
  "/",
  "/new",
  "/inbox",
  "/review",
  "/queue",
  "/races",
  "/terminals",
  "/cost",
  "/vault",
  "/settings",
  ...[
    "",
    "/overview",
    "/terminal",
    "/timeline",
    "/network",
    "/files",
    "/services",
    "/resources",
    "/settings",
  ].map((tab) => `/box/${liveBox}${tab}`),
  `/box/${doneBox}/review`,
];
