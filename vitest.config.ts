import { configDefaults, defineConfig } from "vitest/config";

/** Tests beside the source that start git, npm or pip many times over: as quick as those programs are. */
const withPrograms = ["src/services/{merge,review,tool-store,workspace}/**/*.test.ts"];

/** Real boxes on a small machine: side by side, time-outs would measure the neighbours. */
const oneAtATime = { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false };

/** What a container cannot change: tests that have no box, look only at the host, or name their runtimes themselves. */
const notInContainers = [
  "test/security/found-{harmful-test,shared-yes,hidden-request,revoked-connections,server-answers}.test.ts",
  "test/security/threat-{16-local-api,24-host-executed,27-model-settings,40-changed-after-review,44-chained-log}.test.ts",
  "test/security/threat-{02-containers,32-containers,32-in-box-probe,33-known-escapes}.test.ts",
  "test/e2e/vault-keyring.test.ts",
];

/** The suites of the box, the gate and the vault once more, with every box in a container. They run side by side. */
const inContainers = ["docker", "podman", "gvisor"].map((runtime) => ({
  test: {
    name: runtime,
    include: [
      "test/security/**/*.test.ts",
      "test/e2e/{network,vault}-*.test.ts",
      "test/e2e/{boot,box,held-secrets,persistence}.test.ts",
    ],
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
          include: ["src/**/*.test.ts", "test/*.test.ts", "test/model/**/*.test.ts"],
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
          include: [
            "test/conformance/**/*.test.ts",
            "test/security/**/*.test.ts",
            "test/e2e/**/*.test.ts",
            "test/agents/**/*.test.ts",
          ],
          globalSetup: ["test/support/global-setup.ts"],
          ...oneAtATime,
        },
      },
      ...inContainers,
    ],
  },
});
