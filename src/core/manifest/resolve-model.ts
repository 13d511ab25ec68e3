/** The models that a box may ask for, from all layers and the agent's own API. Pure. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import { suggest } from "../../base/suggest.ts";
import type { AgentEntry } from "../../contract/agent.ts";
import { type ManifestLayer, layerManifest } from "../../manifest/index.ts";
import type { ProviderEntry } from "../../manifest/sections/model-section.ts";
import {
  type ModelProvider,
  type ModelSpec,
  builtInProviders,
  providerApiOf,
} from "../../contract/model/api.ts";
import { parseBaseUrl } from "../../contract/model/base-url.ts";
import { isModelAllowed, narrowModels } from "../../contract/model/model-pattern.ts";

export interface SourcedProvider {
  readonly provider: ModelProvider;
  /** The layer that configured it; absent for a built-in one as it is. */
  readonly source?: ManifestLayer["source"] | undefined;
}

/** Built-in and configured providers; the last layer that names one decides all of it. */
export function resolveProviders(layers: readonly ManifestLayer[]): SourcedProvider[] {
  const found = new Map<string, SourcedProvider>(
    builtInProviders.map((provider) => [provider.name, { provider }]),
  );
  for (const { source, values } of layers) {
    for (const [name, entry] of Object.entries(values.model?.providers ?? {}))
      found.set(name, { provider: providerOf(name, entry), source });
  }
  return [...found.values()];
}

function providerOf(name: string, entry: ProviderEntry): ModelProvider {
  const builtIn = builtInProviders.find((provider) => provider.name === name);
  const parsed = parseBaseUrl(entry.base_url ?? builtIn?.baseUrl ?? "");
  const api = entry.api ?? builtIn?.api;
  if ("problem" in parsed || api === undefined) {
    const reason = "problem" in parsed ? parsed.reason : "it has no api";
    throw new AgentBoxError("manifest.invalid", `The model provider "${name}" cannot be used: ${reason}.`, {
      hint: `Correct model.providers.${name}.`,
      facts: { provider: name },
    });
  }
  // SECURITY: a vendor's key goes to another server than the vendor's only where the configuration says so.
  const isOwnDirectory = entry.base_url === undefined || parsed.url === builtIn?.baseUrl;
  const keySecret = entry.key?.slice("vault:".length);
  const usual = isOwnDirectory && keySecret === undefined ? builtIn?.keyVariable : undefined;
  const keyVariable = entry.key_env ?? usual;
  return {
    name,
    api,
    baseUrl: parsed.url,
    ...omitUndefined({ keyVariable, keySecret }),
  };
}

export type AgentModel = Pick<AgentEntry, "name" | "api" | "defaultModel">;

/** Undefined: the agent needs no model, and none was chosen. Throws `model.unknown_provider` and the like. */
export function resolveModel(
  layers: readonly ManifestLayer[],
  agent: AgentModel | undefined,
): ModelSpec | undefined {
  const { model = {} } = layerManifest(layers).values;
  const isChosen = model.provider !== undefined || model.name !== undefined;
  if (agent?.api === undefined && !isChosen) return undefined;
  const providers = resolveProviders(layers).map(({ provider }) => provider);
  const provider = chooseProvider(model.provider, providers, agent);
  const allow = resolveAllow(layers);
  const aliases = model.aliases ?? {};
  const isBuiltIn = builtInProviders.some(({ name }) => name === provider.name);
  const name = model.name ?? (isBuiltIn ? agent?.defaultModel : undefined);
  const meant = name !== undefined && Object.hasOwn(aliases, name) ? aliases[name]! : name;
  if (meant !== undefined && !isModelAllowed(allow, meant)) {
    throw new AgentBoxError("model.not_allowed", `The model "${printable(meant)}" is not allowed here.`, {
      hint: `Choose one of ${allow.map(printable).join(", ")}, such as with --model.`,
      facts: { model: meant, allow },
    });
  }
  return {
    provider: provider.name,
    ...omitUndefined({ name }),
    allow: [...allow],
    aliases,
    providers,
  };
}

function chooseProvider(
  wanted: string | undefined,
  providers: readonly ModelProvider[],
  agent: AgentModel | undefined,
): ModelProvider {
  const api = agent?.api && providerApiOf(agent.api);
  const name = wanted ?? builtInProviders.find((provider) => api === undefined || provider.api === api)?.name;
  const provider = providers.find((candidate) => candidate.name === name);
  if (provider === undefined) throw unknownProvider(String(name), providers);
  if (api === undefined || provider.api === api) return provider;
  const fitting = providers.filter((candidate) => candidate.api === api).map((candidate) => candidate.name);
  throw new AgentBoxError(
    "manifest.invalid",
    `The agent "${agent?.name}" speaks the API "${api}", and the model provider "${provider.name}" speaks "${provider.api}".`,
    {
      hint: `Choose another provider (${fitting.join(", ")}), or another agent.`,
      facts: { provider: provider.name, api },
    },
  );
}

function unknownProvider(name: string, providers: readonly ModelProvider[]): AgentBoxError {
  const known = providers.map((provider) => provider.name);
  const meant = suggest(name, known);
  return new AgentBoxError("model.unknown_provider", `There is no model provider "${printable(name)}".`, {
    hint: meant ? `Did you mean "${meant}"?` : `Choose one of: ${known.join(", ")}.`,
    facts: { provider: name },
  });
}

/** SECURITY: a project narrows what the person allows, and never widens it. */
function resolveAllow(layers: readonly ManifestLayer[]): readonly string[] {
  const own = layers
    .filter(({ source }) => source !== "manifest")
    .findLast((layer) => layer.values.model?.allow);
  const project = layers.find(({ source }) => source === "manifest");
  const allow = narrowModels(own?.values.model?.allow ?? [], project?.values.model?.allow ?? []);
  if (allow !== undefined) return allow;
  throw new AgentBoxError(
    "model.not_allowed",
    "The models that the project allows are none of those that the user config allows.",
    { hint: "Change model.allow in one of them." },
  );
}
