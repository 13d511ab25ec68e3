import { configDefaults, defineConfig } from "vitest/config";

/** Tests beside the source that start git, npm or pip many times over: as quick as those programs are. */
const withPrograms = ["src/services/{merge,review,tool-store,workspace}/**/*.test.ts"];

/** Real boxes on a small machine: side by side, time-outs would measure the neighbours. */
const oneAtATime = { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false };

/** Tests that start an engine themselves. */
const withEngines = [
  "test/conformance/{engine,engine-over-ssh,gvisor}.test.ts",
  "test/e2e/{doctor-fix,engine-faults,engine-kinds,engine-restart,exported-boxes,image-boxes,images}.test.ts",
  "test/security/threat-{02-containers,32-containers,33-known-escapes}.test.ts",
];

/** Tests with a real browser. */
const inBrowser = ["test/web/**/*.test.ts", "test/security/threat-{38-web-terminal,39-markup}.test.ts"];

/** What a container cannot change: tests that have no box, look only at the host, or expect the embedded runtime. */
const notInContainers = [
  "test/security/found-{disguised-paths,foreign-orders,half-open,harmful-test,ignored-source,shared-yes,hidden-request,revoked-connections,server-answers}.test.ts",
  "test/security/threat-{16-local-api,24-host-executed,27-model-settings,40-changed-after-review,44-chained-log}.test.ts",
  "test/security/threat-{32-in-box-probe,38-terminal-parser}.test.ts",
  "test/e2e/vault-keyring.test.ts",
  ...withEngines,
  ...inBrowser,
  "test/security/threat-{16-dashboard,16-seen-links,16-token-scopes,17-19-dashboard,20-guests,20-persons,21-previews,23-dashboard-files,41-sign-in}.test.ts",
];

/** What depends on what a box is made of: its boundary, its way to the gate, and what of a secret is found in it. */
const ofTheRuntime = [
  "test/security/threat-{01,03,09,11,20,22,23,25,30,31,35,36}-*.test.ts",
  "test/security/threat-{12-no-interception,14-control-credentials,28-own-box}.test.ts",
  "test/security/found-{check-asks-model,mounted-owner}.test.ts",
  "test/e2e/{boot,box,held-secrets,vault-programs}.test.ts",
];

/** All suites of the box, the gate and the vault. What the gate decides on the host is the same for every runtime. */
const whole = [
  "test/security/**/*.test.ts",
  "test/e2e/{network,vault}-*.test.ts",
  "test/e2e/{boot,box,held-secrets,persistence}.test.ts",
];

/** Once more with every box in a container: what depends on that, or all of it with AGENTBOX_TEST_WHOLE=1. */
const inContainers = ["docker", "podman", "gvisor"].map((runtime) => ({
  test: {
    name: runtime,
    include: process.env["AGENTBOX_TEST_WHOLE"] ? whole : ofTheRuntime,
    exclude: [...configDefaults.exclude, ...notInContainers],
    globalSetup: ["test/support/global-setup.ts"],
    env: { AGENTBOX_TEST_RUNTIME: runtime },
    ...oneAtATime,
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
}));

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "src/**/*.test.ts",
            "web/src/**/*.test.{ts,tsx}",
            "test/*.test.ts",
            "test/model/**/*.test.ts",
          ],
          exclude: [...configDefaults.exclude, ...withPrograms],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "programs",
          include: withPrograms,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "system",
          include: ["test/conformance/**/*.test.ts", "test/security/**/*.test.ts", "test/e2e/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...withEngines, ...inBrowser],
          globalSetup: ["test/support/global-setup.ts"],
          ...oneAtATime,
        },
      },
      {
        test: {
          name: "web",
          include: inBrowser,
          globalSetup: ["test/support/global-setup.ts"],
          ...oneAtATime,
          // A browser is a large program of somebody else's. What needed its second try is named in the summary.
          retry: 1,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "agents",
          include: ["test/agents/**/*.test.ts"],
          globalSetup: ["test/support/global-setup.ts"],
          ...oneAtATime,
        },
      },
      {
        test: {
          name: "engines",
          include: withEngines,
          globalSetup: ["test/support/global-setup.ts"],
          ...oneAtATime,
        },
      },
      ...inContainers,
    ],
  },
});
