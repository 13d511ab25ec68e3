/** Where a run keeps which engines it has started; read by the test processes and by the global set-up. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";

export type EngineKind = "docker" | "docker-remap" | "docker-rootless" | "podman" | "podman-rootless";

export interface StartedEngine {
  readonly kind: EngineKind;
  /** Leader of the engine's process group. */
  readonly pid: number;
  readonly directory: string;
  /** Where it listens; as DOCKER_HOST: `unix://` before it. */
  readonly socket: string;
  /** The control group below which its containers are, in every hierarchy. */
  readonly cgroup: string;
}

export function enginesDirectory(): string {
  const run = process.env["AGENTBOX_TEST_RUN"];
  if (run === undefined) throw new Error("Engines are for system tests: vitest run --project system");
  const directory = join(run, "engines");
  mkdirSync(directory, { recursive: true });
  return directory;
}

export const recordOf = (kind: EngineKind): string => join(enginesDirectory(), `${kind}.json`);
