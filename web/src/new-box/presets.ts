/** Where a form can begin. Data: a preset is values of the manifest, and what they are for. */
import type { Values } from "./draft.ts";

export interface Preset {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly values: Values;
}

export const presets: readonly Preset[] = [
  {
    name: "careful",
    title: "Careful",
    description: "Asks before it changes files, reaches no host, and stops early.",
    values: {
      agent: { autonomy: "ask" },
      network: { default: "deny" },
      lifecycle: { ttl: "2h", idle: "30m" },
      budget: { run: { tokens: 500_000 } },
    },
  },
  {
    name: "fast",
    title: "Fast",
    description: "Works on its own without questions, with the project's package caches.",
    values: { agent: { autonomy: "full" }, workspace: { cache: "project" }, lifecycle: { ttl: "8h" } },
  },
  {
    name: "asks",
    title: "With network, on request",
    description: "Every host that no rule names becomes a question in the inbox.",
    values: { network: { default: "ask" } },
  },
  {
    name: "packages",
    title: "With package registries",
    description: "Reaches what npm and pip are configured with on this host.",
    values: { network: { presets: ["npm", "pip"] } },
  },
  {
    name: "container",
    title: "In a container",
    description: "The isolation of a container engine, or it is refused.",
    values: { runtime: { tier: "container" } },
  },
];
