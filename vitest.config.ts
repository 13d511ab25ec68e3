import { configDefaults, defineConfig } from "vitest/config";

/** Tests beside the source that start git, npm or pip many times over: as quick as those programs are. */
const withPrograms = ["src/services/{merge,review,tool-store,workspace}/**/*.test.ts"];

/**
 * Vitest would leave one core to itself, which waits while the tests run. No test measures time by its time-out: it only
 * ends what hangs, so it leaves room for a machine that does much else. Files share a process, because starting one for
 * each and loading the same modules again costs more than most of these tests: what a test changes of its process
 * (signals, umask, environment) it puts back.
 */
const quick = { testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: "100%", isolate: false };

/** Tests that replace the timers of their process and count them: other files must not set any meanwhile. */
const alone = ["src/**/*.alone.test.ts"];

/** Real boxes on a small machine: side by side, time-outs would measure the neighbours. */
const oneAtATime = { testTimeout: 120_000, hookTimeout: 120_000, fileParallelism: false };

/** Tests that start an engine themselves. */
const withEngines = ["test/**/*.engine.test.ts"];

/** Tests with a real browser. */
const inBrowser = ["test/web/**/*.test.ts", "test/**/*.web.test.ts"];

/** What a container cannot change: tests that have no box, look only at the host, or expect the embedded runtime. */
const onTheHost = ["test/**/*.host.test.ts"];

/** What depends on what a box is made of: its boundary, its way to the gate, and what of a secret is found in it. */
const ofTheRuntime = ["test/{security,e2e}/**/*.runtime.test.ts"];

/** All suites of the box, the gate and the vault. What the gate decides on the host is the same for every runtime. */
const whole = ["test/{security,e2e}/**/*.test.ts"];

/** Once more with every box in a container: what depends on that, or all of it with AGENTBOX_TEST_WHOLE=1. */
const inContainers = ["docker", "podman", "gvisor"].map((runtime) => ({
  test: {
    name: runtime,
    include: process.env["AGENTBOX_TEST_WHOLE"] ? whole : ofTheRuntime,
    exclude: [...configDefaults.exclude, ...onTheHost, ...withEngines, ...inBrowser],
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
          include: ["{src,web/src}/**/*.test.{ts,tsx}", "test/*.test.ts", "test/model/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...withPrograms, ...alone],
          ...quick,
        },
      },
      {
        test: {
          name: "unit-alone",
          include: alone,
          ...quick,
          isolate: true,
        },
      },
      {
        test: {
          name: "programs",
          include: withPrograms,
          ...quick,
          isolate: true,
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
