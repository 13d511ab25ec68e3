/** A runtime module over a container engine, for each kind of boundary that an engine can make. */
import { mkdir, realpath } from "node:fs/promises";
import {
  type Engine,
  type EngineOptions,
  isEngineAnswering,
  openEngine,
} from "../../../host/engine/index.ts";
import type { Runtime, RuntimeModule, RuntimeProbe } from "../../../ports/runtime.ts";
import { EngineRuntime } from "./engine-runtime.ts";
import { type Boundary, containerBoundary } from "./guarantees.ts";
import { installationId } from "./labels.ts";
import { probeEngine, type Trial } from "./probe.ts";

export interface EngineModuleOptions extends EngineOptions {
  readonly name: string;
  readonly description: string;
  /** Another OCI runtime than the engine's own, under the name the engine knows it by. */
  readonly ociRuntime?: string | undefined;
  readonly boundary?: Boundary | undefined;
  readonly trial?: Trial | undefined;
}

export function createEngineModule(options: EngineModuleOptions): RuntimeModule {
  const open = async (engine: Engine, boxesDir: string): Promise<Runtime> => {
    await mkdir(boxesDir, { recursive: true });
    const runtime = new EngineRuntime({
      engine,
      boxesDir,
      installation: { id: installationId(await realpath(boxesDir)), runtime: options.name },
      boundary: options.boundary ?? containerBoundary,
      ociRuntime: options.ociRuntime,
    });
    await runtime.adopt();
    return runtime;
  };
  let ready: RuntimeProbe | undefined;
  return {
    kind: "runtime",
    name: options.name,
    apiVersion: 1,
    description: options.description,
    // An engine comes and goes while the daemon runs: only a good answer is kept, and only while it is in use.
    async probe() {
      if (ready !== undefined && !(await isEngineAnswering(options))) ready = undefined;
      const probe = ready ?? (await probeEngine(options, open));
      if (probe.status === "ready") ready = probe;
      return probe;
    },
    async open({ boxesDir }) {
      // Also where no box can be made just now: what was made before must still be stopped and removed.
      return open(await openEngine(options), boxesDir);
    },
  };
}
