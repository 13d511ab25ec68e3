/** A manifest's requests about the agent and its model: servers that get what the agent reads, keys, and skills. */
import { printable } from "../../base/printable.ts";
import type { ManifestLayer } from "../../manifest/index.ts";
import { isWithin } from "../../contract/mount-paths.ts";
import { type ManifestInputs, resolveSkills } from "./mount-requests.ts";
import { resolveProviders } from "../manifest/resolve-model.ts";

export type ModelRequest =
  | {
      readonly kind: "model_provider";
      readonly name: string;
      readonly api: string;
      readonly url: string;
      readonly sentence: string;
    }
  | { readonly kind: "model_key"; readonly variable: string; readonly url: string; readonly sentence: string }
  | {
      readonly kind: "model_secret";
      readonly name: string;
      readonly secret: string;
      readonly url: string;
      readonly sentence: string;
    }
  | { readonly kind: "skills"; readonly source: string; readonly sentence: string };

export function modelRequests(layers: readonly ManifestLayer[]): ModelRequest[] {
  // SECURITY: beside what holds without the manifest. The vendor's own address is another server than the one that the
  // person's config names for the same provider.
  const before = resolveProviders(layers.filter(({ source }) => source !== "manifest"));
  return resolveProviders(layers)
    .filter(({ source }) => source === "manifest")
    .map(({ provider }) => provider)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, api, baseUrl: url, keyVariable: variable, keySecret: secret }): ModelRequest[] => {
      const known = before.find(({ provider }) => provider.name === name)?.provider;
      const isElsewhere = known?.baseUrl !== url || known.api !== api;
      return [
        ...(isElsewhere
          ? [
              {
                kind: "model_provider" as const,
                name,
                api,
                url,
                sentence: printable(`send what the agent reads to ${url}`),
              },
            ]
          : []),
        ...(variable !== undefined && (isElsewhere || variable !== known?.keyVariable)
          ? [
              {
                kind: "model_key" as const,
                variable,
                url,
                sentence: printable(`use the host variable ${variable} as the key for ${url}`),
              },
            ]
          : []),
        ...(secret !== undefined && (isElsewhere || secret !== known?.keySecret)
          ? [
              {
                kind: "model_secret" as const,
                name,
                secret,
                url,
                sentence: printable(
                  `send the secret ${secret} to ${url} as the key of the model provider ${name}`,
                ),
              },
            ]
          : []),
      ];
    });
}

/** SECURITY: over the real path, because a link in the repository may lead anywhere. */
export function skillsRequests(inputs: ManifestInputs): ModelRequest[] {
  const skills = resolveSkills(inputs);
  if (skills === undefined || skills.origin.source !== "manifest") return [];
  const { source } = skills;
  if (inputs.projectDir !== undefined && isWithin(source, inputs.projectDir)) return [];
  return [{ kind: "skills", source, sentence: printable(`read the skills in ${source} of the host`) }];
}
