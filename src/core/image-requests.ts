/** What a repository asks the box to be made of. Images come from outside and past the gate. Pure. */
import { printable } from "../base/printable.ts";
import { layerManifest } from "../contract/manifest/index.ts";
import type { ResolvePlaces } from "./mount-requests.ts";

export type ImageRequest =
  | { readonly kind: "image"; readonly image: string; readonly sentence: string }
  | {
      readonly kind: "devcontainer_env";
      readonly env: Readonly<Record<string, string>>;
      readonly sentence: string;
    };

export function imageRequests({ layers, devcontainer }: ResolvePlaces): ImageRequest[] {
  const { values, origins } = layerManifest(layers);
  const own = origins.get("runtime.image")?.source === "manifest" ? values.runtime?.image : undefined;
  const image = own ?? devcontainer?.image;
  const from = own === undefined ? `, as ${devcontainer?.file} says` : "";
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
