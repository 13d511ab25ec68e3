import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/*.test.ts", "test/model/**/*.test.ts"],
          testTimeout: 20_000,
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
