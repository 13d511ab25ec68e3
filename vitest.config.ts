import { configDefaults, defineConfig } from "vitest/config";

/** Tests beside the source that start git, npm or pip many times over: as quick as those programs are. */
const withPrograms = ["src/services/{merge,review,tool-store,workspace}/**/*.test.ts"];

/** Real boxes on a small machine: side by side, time-outs would measure the neighbours. */
const oneAtATime = { testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false };

/** The security suites once more, with every box in a container. */
const inContainers = ["docker", "podman", "gvisor"].map((runtime) => ({
  test: {
    name: runtime,
    include: ["test/security/**/*.test.ts", "test/e2e/{network,vault}-*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    env: { AGENTBOX_TEST_RUNTIME: runtime },
    ...oneAtATime,
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
