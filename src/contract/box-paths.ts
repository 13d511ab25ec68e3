/** Places in the box. In a file of their own, without zod, because boxd and the CLI must start fast. */
export const boxPaths = {
  home: "/home/agent",
  workspace: "/workspace",
  run: "/run/agentbox",
  linkSocket: "/run/agentbox/link.sock",
  config: "/run/agentbox/box.json",
  /** As old as the workspace was when the box got it: what is newer is the box's own work. */
  sealed: "/run/agentbox/sealed",
  /** A small file system in memory, for secrets that the box holds itself; only the box's user looks into it. */
  secrets: "/run/secrets",
  tools: "/opt/agentbox",
  /** What packages of the host have below /etc; links in the box's /etc lead here. */
  etc: "/opt/agentbox/etc",
  node: "/opt/agentbox/bin/node",
  boxd: "/opt/agentbox/boxd/boxd.js",
  demo: "/opt/agentbox/boxd/demo.js",
  /** Agents from the tool store, each under its name. */
  agents: "/opt/agentbox/agents",
  skills: "/opt/agentbox/skills",
  /** MCP servers that an image has inside, each under its name. */
  mcp: "/opt/agentbox/mcp",
  /** In a directory of boxd's own; the box's /tmp is memory, so nothing of it outlives a start. */
  sshAgent: "/tmp/.agentbox-ssh/agent.sock",
  /** Agents' hooks append one JSON object a line; boxd passes the lines on. */
  hooksFile: "/home/agent/.agentbox/hooks.jsonl",
} as const;
/** What of a box is memory and can fill, with the key of the manifest that says how large it is. */
export const memoryDirs = {
  "/tmp": "resources.tmp",
  "/var/tmp": "resources.tmp",
  "/dev/shm": "resources.shm",
  "/run": undefined,
  "/var/log": undefined,
  "/var/lib": undefined,
} as const;
export type MemoryDir = keyof typeof memoryDirs;

/** Less than a hundredth is left: what could not be written was larger, and the program may have removed a part of it. */
export const isFullMemory = (use: { readonly sizeBytes: number; readonly usedBytes: number }): boolean =>
  use.usedBytes > use.sizeBytes * 0.99;

export const boxUser = { name: "agent", uid: 1000, gid: 1000 } as const;
