import {
  type Devcontainer,
  devcontainerNames,
  readDevcontainer,
} from "../../manifest/devcontainer/devcontainer.ts";
import { type ManifestLayer, layerManifest } from "../../manifest/index.ts";
import { isAtLeast, tierOf } from "../plan/choose-runtime.ts";
import type { CorePorts } from "../context.ts";

/** The project's devcontainer.json, for a box that a container runtime makes and that has no image of its own. */
export async function findDevcontainer(
  { host, runtimes }: Pick<CorePorts, "host" | "runtimes">,
  projectDir: string | undefined,
  layers: readonly ManifestLayer[],
  runtime: string,
): Promise<Devcontainer | undefined> {
  const { values } = layerManifest(layers);
  const { image, packages } = values.runtime ?? {};
  // What is cloned from elsewhere is not described by the directory somebody happens to be in.
  if (projectDir === undefined || values.workspace?.url !== undefined) return undefined;
  if (image !== undefined || packages !== undefined) return undefined;
  for (const name of devcontainerNames) {
    // SECURITY: a repository can hold a link to anywhere, for the directory of the file as well.
    const path = `${projectDir}/${name}`;
    if ((await host.realPath(path)) !== path) continue;
    const text = await host.readProjectFile(projectDir, name);
    if (text === undefined) continue;
    const isForEngines = isAtLeast(tierOf(await runtimes.get(runtime)), "container");
    return isForEngines ? readDevcontainer(name, text) : undefined;
  }
  return undefined;
}
