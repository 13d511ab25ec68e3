import { z } from "zod";

/** The languages the model gateway understands. */
export const ModelApi = z.enum(["anthropic", "openai-responses", "openai-chat", "gemini"]);
export type ModelApi = z.infer<typeof ModelApi>;

/** The API of a provider: `openai` is Responses (SSE and WebSocket) and Chat Completions. */
export const ProviderApi = z.enum(["anthropic", "openai", "gemini"]);
export type ProviderApi = z.infer<typeof ProviderApi>;

export const providerApiOf = (api: ModelApi): ProviderApi =>
  api === "openai-responses" || api === "openai-chat" ? "openai" : api;

/** The gateway's name in every box that has a model. */
export const modelHost = "model.agentbox.internal";
export const modelPort = 80;

/** The key that programs in a box send. The gateway takes no other and puts the real one in its place. */
export const placeholderKey = "sk-agentbox-placeholder";

/** Where requests of a box go. The key's value is never part of it: only where the value comes from. */
export const ModelProvider = z.strictObject({
  name: z.string(),
  api: ProviderApi,
  /** Without a slash at the end; what follows the provider's name in the request is appended. */
  baseUrl: z.string(),
  /** A variable of the host's environment that holds the key; without one no key is sent. */
  keyVariable: z.string().optional(),
  /** A secret of the vault that holds the key, or the tokens of a login; it comes before the variable. */
  keySecret: z.string().optional(),
});
export type ModelProvider = z.infer<typeof ModelProvider>;

/** The models that a box may ask for; part of its specification. */
export const ModelSpec = z.strictObject({
  /** The provider the agent is pointed to. */
  provider: z.string(),
  /** The model the agent is told to ask for. */
  name: z.string().optional(),
  /** Patterns with `*`; empty: all. Checked after aliases. */
  allow: z.array(z.string()),
  /** Name a program may use → the name that is sent. */
  aliases: z.record(z.string(), z.string()),
  providers: z.array(ModelProvider),
});
export type ModelSpec = z.infer<typeof ModelSpec>;

export const builtInProviders: readonly ModelProvider[] = [
  {
    name: "anthropic",
    api: "anthropic",
    baseUrl: "https://api.anthropic.com",
    keyVariable: "ANTHROPIC_API_KEY",
  },
  { name: "openai", api: "openai", baseUrl: "https://api.openai.com", keyVariable: "OPENAI_API_KEY" },
  {
    name: "gemini",
    api: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com",
    keyVariable: "GEMINI_API_KEY",
  },
];
