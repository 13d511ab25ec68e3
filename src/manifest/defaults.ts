import type { LayerValues } from "./layers.ts";

/**
 * The values that hold when no layer sets them. The mode of the workspace is missing on purpose: it depends on the
 * project. So are memory, CPU and disk: no number is right for every machine.
 */
export const manifestDefaults = {
  agent: { name: "shell", autonomy: "full", args: [] },
  workspace: { carry: "none", cache: "box" },
  runtime: { name: "bubblewrap" },
  resources: { pids: 4_096 },
  lifecycle: { ttl: "5d", restart: "no", stop_grace: "10s" },
  network: { default: "deny", learn: false },
  limits: { max_ttl: "5d" },
} as const satisfies LayerValues;

/** The same for entries that have a name or a number of their own. */
export const entryDefaults = {
  mcpServers: { args: [], env: {}, transport: "http", headers: {} },
  mounts: { access: "read" },
  services: { after: [], ready_timeout: "60s", restart: "on-failure", required: true },
  checks: { timeout: "10m" },
  networkRules: { inspect: false, mode: "allow" },
} as const;
