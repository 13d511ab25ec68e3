/**
 * A manifest's requests for things outside the workspace. A manifest comes with a repository, so it is a request: a
 * person agrees to exactly this list, by its digest. Flags and user config are an order.
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/digest.ts";
import { printable } from "../../base/printable.ts";
import { envVariables } from "../../manifest/env-files.ts";
import { layerManifest } from "../../manifest/index.ts";
import { type ImageRequest, imageRequests } from "./image-requests.ts";
import { type ModelRequest, modelRequests, skillsRequests } from "./model-requests.ts";
import { type ManifestInputs, resolveMounts } from "./mount-requests.ts";
import { type NetworkRequest, networkRequests } from "../policy/network-requests.ts";
import { type ExceptionRequest, exceptionRequests } from "./security-exceptions.ts";
import { type SecretRequest, secretRequests } from "../secrets/secret-requests.ts";

export type TrustRequest =
  | {
      readonly kind: "mount";
      readonly source: string;
      readonly target: string;
      readonly access: "read" | "write";
      readonly sentence: string;
    }
  | { readonly kind: "host_variable"; readonly name: string; readonly as: string; readonly sentence: string }
  | {
      readonly kind: "env_file";
      readonly path: string;
      readonly variables: readonly string[];
      readonly cleared: readonly string[];
      readonly sentence: string;
    }
  | { readonly kind: "env_script"; readonly path: string; readonly digest: string; readonly sentence: string }
  | { readonly kind: "mounted_workspace"; readonly source: string; readonly sentence: string }
  | NetworkRequest
  | SecretRequest
  | ModelRequest
  | ImageRequest
  | ExceptionRequest;

export interface TrustRequests {
  /** Empty when the manifest asks for nothing. */
  readonly requests: readonly TrustRequest[];
  /** The same for the same requests, independent of the rest of the file. */
  readonly digest: string;
}

export function trustRequests(inputs: ManifestInputs): TrustRequests {
  const requests = [
    ...mountRequests(inputs),
    ...variableRequests(inputs),
    ...fileRequests(inputs),
    ...workspaceRequests(inputs),
    ...networkRequests(inputs.layers, inputs.presets),
    ...secretRequests(inputs.layers),
    ...modelRequests(inputs.layers),
    ...skillsRequests(inputs),
    ...imageRequests(inputs),
    ...exceptionRequests(inputs.layers),
  ];
  return { requests, digest: digestOf(requests) };
}

function mountRequests(inputs: ManifestInputs): TrustRequest[] {
  return resolveMounts(inputs)
    .filter(({ origin }) => origin.source === "manifest")
    .map(({ mount: { source, target, readOnly } }) => ({
      kind: "mount",
      source,
      target,
      access: readOnly ? "read" : "write",
      sentence: printable(`${readOnly ? "read" : "read and change"} ${source} of the host, as ${target}`),
    }));
}

function variableRequests({ layers }: ManifestInputs): TrustRequest[] {
  const { values, origins } = layerManifest(layers);
  return envVariables(values.env)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([as, value]): TrustRequest[] => {
      if (typeof value === "string" || origins.get(`env.${as}`)?.source !== "manifest") return [];
      const name = value.from_host;
      const renamed = name === as ? "" : `, as ${as}`;
      return [
        {
          kind: "host_variable",
          name,
          as,
          sentence: printable(`read the host environment variable ${name}${renamed}`),
        },
      ];
    });
}

const shownNames = 20;

/**
 * SECURITY: a file of variables often lies beside a repository and not in it, so a manifest asks for it by the names.
 * A script is asked for whoever named it, because a person agrees to what it says and not to its name.
 */
function fileRequests({ envFiles }: ManifestInputs): TrustRequest[] {
  if (envFiles === undefined) return [];
  const { files, script, origin } = envFiles;
  const asked = origin?.source === "manifest" ? files : [];
  const requests = asked.flatMap(({ path, values, cleared }): TrustRequest[] => {
    const variables = Object.keys(values).sort();
    if (variables.length === 0) return [];
    const shown = variables.slice(0, shownNames).join(", ");
    const more = variables.length > shownNames ? ` and ${variables.length - shownNames} more` : "";
    const secrets = cleared.length === 0 ? "" : `, with ${cleared.join(", ")}, which looks like a secret`;
    const sentence = printable(`put ${shown}${more} of ${path} into the box${secrets}`);
    return [{ kind: "env_file", path, variables, cleared, sentence }];
  });
  if (script === undefined) return requests;
  const { path, digest } = script;
  const sentence = printable(`run ${path} in the box at each start, as it is now (${digest.slice(0, 19)})`);
  return [...requests, { kind: "env_script", path, digest, sentence }];
}

function workspaceRequests({ layers, projectDir }: ManifestInputs): TrustRequest[] {
  const { values, origins } = layerManifest(layers);
  const isAsked = values.workspace?.mode === "mount" && origins.get("workspace.mode")?.source === "manifest";
  if (!isAsked || projectDir === undefined) return [];
  const sentence = printable(`change the project directory ${projectDir} itself, without a review`);
  return [{ kind: "mounted_workspace", source: projectDir, sentence }];
}

/** Over what is asked, not over how it is worded: another sentence for the same thing is not another request. */
function digestOf(requests: readonly TrustRequest[]): string {
  const asked = requests.map(({ sentence: _sentence, ...request }) => request);
  return `sha256:${createHash("sha256").update(canonicalJson(asked)).digest("hex")}`;
}
