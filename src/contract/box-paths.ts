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
} as const;
export const boxUser = { name: "agent", uid: 1000, gid: 1000 } as const;
