import type { FlagSpec } from "../command.ts";

/** Flags of the network policy; `policy apply` takes them, too. */
export const networkFlags: Readonly<Record<string, FlagSpec>> = {
  allow: {
    type: "list",
    value: "HOST[:PORT]",
    summary: "Let the box reach this host; *.HOST for those below.",
  },
  preset: { type: "list", value: "NAME", summary: "Let the box reach what a tool needs, such as npm." },
  network: {
    type: "text",
    value: "MODE",
    choices: ["deny", "ask"],
    summary: "What happens at hosts without a rule: deny or ask.",
  },
  learn: { type: "switch", summary: "Record what is wanted, for agentbox policy learn." },
};

/** How the agent works, with which model, and what it may spend. Each one is a key of the manifest. */
const agentFlags: Readonly<Record<string, FlagSpec>> = {
  autonomy: {
    type: "text",
    value: "LEVEL",
    choices: ["ask", "edit", "full"],
    summary: "What needs no question: ask, edit or full.",
  },
  model: { type: "text", value: "NAME", summary: "The model, such as claude-opus-4-8." },
  "agent-version": { type: "text", value: "V", summary: "Exactly this version, such as 2.1.197." },
  "budget-tokens": { type: "text", value: "N", summary: "Most tokens of the run, such as 500000." },
  "budget-usd": { type: "text", value: "N", summary: "Most US dollars of the run, such as 2.50." },
  option: {
    type: "list",
    short: "o",
    value: "K=V",
    summary: "Option of the agent, such as max_turns=20.",
  },
};

/** Flags of a new box; `run` and `create` share them. Each one is a key of the manifest. */
export const boxFlags: Readonly<Record<string, FlagSpec>> = {
  name: { type: "text", value: "NAME", summary: "Name of the box, such as team-app-backend." },
  runtime: { type: "text", value: "NAME", summary: "What the box is made of; see agentbox doctor." },
  tier: {
    type: "text",
    value: "TIER",
    choices: ["namespaces", "container", "rootless", "gvisor"],
    summary: "The weakest isolation that will do.",
  },
  workspace: {
    type: "text",
    value: "MODE",
    choices: ["clone", "copy", "mount", "empty"],
    summary: "How the work gets in: clone, copy, mount or empty.",
  },
  repo: { type: "text", value: "URL", summary: "Clone this https address, in the box." },
  carry: {
    type: "text",
    value: "WHAT",
    choices: ["none", "dirty"],
    summary: "dirty: uncommitted work comes along.",
  },
  env: { type: "list", short: "e", value: "K=V", summary: "Set a variable in the box; K alone takes yours." },
  mount: {
    type: "list",
    value: "SRC:DST[:rw]",
    summary: "Show a host directory, read-only unless :rw.",
  },
  memory: { type: "text", value: "SIZE", summary: "Most memory, such as 2GiB." },
  cpus: { type: "text", value: "N", summary: "Processors, such as 1.5." },
  pids: { type: "text", value: "N", summary: "Most processes." },
  disk: { type: "text", value: "SIZE", summary: "Most disk for workspace and home." },
  ttl: { type: "text", value: "TIME", summary: "Longest life of one run, such as 8h." },
  idle: { type: "text", value: "TIME", summary: "Stop after this long without activity." },
  ...agentFlags,
  ...networkFlags,
  secret: {
    type: "list",
    value: "NAME[=S]",
    summary: "Let the box use a secret, such as github.",
  },
  template: { type: "text", value: "NAME", summary: "Begin with this template; see agentbox template." },
  set: { type: "list", value: "LINE", summary: "Any line of a manifest, as TOML." },
  trust: { type: "text", value: "DIGEST", summary: "Agree to exactly these requests of the manifest." },
};

export const since = (summary: string): FlagSpec => ({ type: "text", value: "TIME", summary });

export const follow = (what: string): FlagSpec => ({ type: "switch", short: "f", summary: what });
