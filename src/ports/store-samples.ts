/** Records that the conformance cases of stores begin with, and the shape of such a case. */
import type { Box } from "../contract/box.ts";
import type { NewEvent } from "../contract/events.ts";
import type { NewEgressRecord } from "../contract/network/egress.ts";
import type { Store } from "./store.ts";

export interface StoreCase {
  readonly name: string;
  run(open: () => Promise<Store>): Promise<void>;
}

/** A record that passes the schema; the name is all that most cases care about. */
export const sampleBox = (name: string, change: Partial<Box> = {}): Box => ({
  name,
  incarnation: `${name}-first`,
  spec: {
    agent: { name: "shell", args: [], autonomy: "full", options: {} },
    budget: [],
    mcp: [],
    checks: [],
    secrets: [],
    workspace: { mode: "empty", carry: "none" },
    runtime: "memory",
    resources: { required: [] },
    mounts: [],
    env: { LANG: "C.UTF-8" },
    services: [],
    lifecycle: { ttlMs: 60_000, restart: "no", stopGraceMs: 1_000 },
  },
  owner: { uid: 1000, gid: 1000 },
  state: { phase: "creating", sinceMs: 1 },
  isolation: { tier: "none", guarantees: [] },
  createdAtMs: 1,
  restarts: 0,
  ...change,
});

export const sampleEvent = (type: NewEvent["type"], box?: string, data: NewEvent["data"] = {}): NewEvent => ({
  atMs: 5,
  type,
  ...(box === undefined ? {} : { box, incarnation: `${box}-first` }),
  data,
});

export const sampleEgress = (box: string, host: string, verdict: "allow" | "deny"): NewEgressRecord => ({
  atMs: 1,
  box,
  incarnation: "i",
  via: "tcp",
  host,
  port: 443,
  verdict,
  bytesOut: 1,
  bytesIn: 2,
});
