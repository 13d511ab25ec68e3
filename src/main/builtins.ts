/** The only place that names concrete drivers. Literal imports: each becomes a chunk that is loaded when it is used. */
import type { RuntimeModule } from "../ports/runtime.ts";
import type { StoreModule } from "../ports/store.ts";

export const runtimeModules = {
  bubblewrap: async () => (await import("../drivers/runtime/bubblewrap/index.ts")).default,
  docker: async () => (await import("../drivers/runtime/engine/docker.ts")).default,
  gvisor: async () => (await import("../drivers/runtime/engine/gvisor.ts")).default,
  memory: async () => (await import("../drivers/runtime/memory/index.ts")).default,
} as const satisfies Record<string, () => Promise<RuntimeModule>>;

/** For tests: it runs nothing and isolates nothing. A manifest may name it, and no choice offers it. */
export const isForTests = (runtime: string): boolean => runtime === "memory";

export const loadStore = async (): Promise<StoreModule> =>
  (await import("../drivers/store/sqlite/index.ts")).default;
