import { z } from "zod";
import { ProviderApi } from "../../contract/model/api.ts";
import { ModelPrice } from "../../contract/model/price.ts";
import { Address, EnvName, ModelName, ProviderName, SecretRef } from "./scalars.ts";

const ProviderEntry = z
  .strictObject({
    api: ProviderApi.optional().describe("The API it speaks. Needed unless it is one of the built-in names."),
    base_url: Address.optional().describe(
      'Where it is, without the part that the API adds, such as "http://127.0.0.1:11434". Needed unless it is one of the built-in names.',
    ),
    key: SecretRef.optional().describe(
      'The secret of the vault that holds the key, such as "vault:openai". In place of key_env.',
    ),
    key_env: EnvName.optional().describe(
      "Variable of the daemon's environment that holds the key. Without it and without key: no key is sent, except to a built-in provider at its own address, which gets the secret of its own name from the vault, or its usual variable.",
    ),
  })
  .describe(
    "Where requests to models go. anthropic, openai and gemini are built in. A manifest that names one asks for trust.",
  );
export type ProviderEntry = z.infer<typeof ProviderEntry>;

export const ModelSection = z
  .strictObject({
    provider: ProviderName.optional().describe(
      "The provider the agent is pointed to. Without it: the built-in one whose API the agent speaks.",
    ),
    name: ModelName.optional().describe(
      "The model the agent is told to ask for. Without it: the agent's own choice.",
    ),
    allow: z
      .array(ModelName)
      .min(1)
      .max(128)
      .optional()
      .describe(
        "Models the box may use; * is any text. Without it: all. A project cannot allow what the user config does not.",
      ),
    aliases: z
      .record(ModelName, ModelName.describe("The model that is asked for instead."))
      .optional()
      .describe("Names that programs in the box may use, each with the model that is meant."),
    providers: z.record(ProviderName, ProviderEntry).optional(),
    prices: z
      .record(ModelName, ModelPrice)
      .optional()
      .describe("Prices by model, * at the end is any text. User config only."),
  })
  .describe("Which model the agent uses, and where it is. The box never holds a key.");
export type ModelSection = z.infer<typeof ModelSection>;
