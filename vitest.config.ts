import { configDefaults, defineConfig } from "vitest/config";

/** Tests beside the source that start git, npm or pip many times over: as quick as those programs are. */
const withPrograms = ["src/services/{merge,review,tool-store,workspace}/**/*.test.ts"];

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
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Real boxes on a small machine: side by side, time-outs would measure the neighbours.
          fileParallelism: false,
        },
      },
    ],
  },
});
