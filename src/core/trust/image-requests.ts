/** A repository's requests about the image of its box. Images come from outside and past the gate. Pure. */
import { printable } from "../../base/printable.ts";
import { layerManifest } from "../../manifest/index.ts";
import { packagedServers } from "../images/packaged-servers.ts";
import type { ManifestInputs } from "./mount-requests.ts";
import { resolveMcp } from "../manifest/resolve-mcp.ts";

export type ImageRequest =
  | { readonly kind: "image"; readonly image: string; readonly sentence: string }
  | {
      readonly kind: "mcp_package";
      readonly server: string;
      readonly package: string;
      readonly sentence: string;
    }
  | {
      readonly kind: "devcontainer_env";
      readonly env: Readonly<Record<string, string>>;
      readonly sentence: string;
    };

export function imageRequests({ layers, devcontainer }: ManifestInputs): ImageRequest[] {
  const { values, origins } = layerManifest(layers);
  const own = origins.get("runtime.image")?.source === "manifest" ? values.runtime?.image : undefined;
  const image = own ?? devcontainer?.image;
  const from = own === undefined ? `, as ${devcontainer?.file} says` : "";
  const packages = values.runtime?.packages ?? devcontainer?.packages;
  const names = Object.keys(devcontainer?.env ?? {}).sort();
  return [
    ...(image === undefined
      ? []
      : [
          {
            kind: "image" as const,
            image,
            sentence: printable(`be made from the image ${image}${from}`),
          },
        ]),
    ...serverRequests(layers, { image: values.runtime?.image ?? image, packages }),
    ...(devcontainer === undefined || names.length === 0
      ? []
      : [
          {
            kind: "devcontainer_env" as const,
            env: devcontainer.env,
            sentence: printable(`set ${names.join(", ")} in the box, as ${devcontainer.file} says`),
          },
        ]),
  ];
}

/** SECURITY: the host fetches them past the gate, with a person's own access to registries. */
function serverRequests(
  layers: ManifestInputs["layers"],
  made: { readonly image: string | undefined; readonly packages: readonly string[] | undefined },
): ImageRequest[] {
  const mcp = resolveMcp(
    layers.filter(({ source }) => source === "manifest"),
    undefined,
  );
  return packagedServers({ mcp, ...made }).map(({ name, package: pkg, version }) => ({
    kind: "mcp_package",
    server: name,
    package: `${pkg}@${version}`,
    sentence: printable(`have ${pkg}@${version} from npm in its image, as the MCP server ${name}`),
  }));
}
