/** Boxes as containers of Docker or Podman, rootful or rootless, under the engine's own OCI runtime. */
import type { EngineOptions } from "../../../host/engine/index.ts";
import type { RuntimeModule } from "../../../ports/runtime.ts";
import { createEngineModule } from "./module.ts";

export const createDockerModule = (options: EngineOptions = {}): RuntimeModule =>
  createEngineModule({
    ...options,
    name: "docker",
    description: "Containers of Docker Engine or Podman, without network, capabilities or a writable root.",
  });

export default createDockerModule();
