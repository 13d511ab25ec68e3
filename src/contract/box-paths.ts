/** Places in the box. In a file of their own, without zod, because boxd and the CLI must start fast. */
export const boxPaths = {
  home: "/home/agent",
  workspace: "/workspace",
  run: "/run/agentbox",
  linkSocket: "/run/agentbox/link.sock",
  config: "/run/agentbox/box.json",
  /** As old as the workspace was when the box got it: what is newer is the box's own work. */
  sealed: "/run/agentbox/sealed",
  tools: "/opt/agentbox",
  node: "/opt/agentbox/bin/node",
  boxd: "/opt/agentbox/boxd/boxd.js",
  demo: "/opt/agentbox/boxd/demo.js",
  /** Agents from the tool store, each under its name. */
  agents: "/opt/agentbox/agents",
  skills: "/opt/agentbox/skills",
  /** Agents' hooks append one JSON object a line; boxd passes the lines on. */
  hooksFile: "/home/agent/.agentbox/hooks.jsonl",
} as const;
export const boxUser = { name: "agent", uid: 1000, gid: 1000 } as const;
