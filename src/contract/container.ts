import { z } from "zod";

/** A box as any container engine could make it: what it is given, in words that belong to no engine. */
export const ContainerDescription = z.object({
  image: z.string(),
  hostname: z.string(),
  user: z.string().describe("Number of the user and of the group."),
  workingDir: z.string(),
  env: z.record(z.string(), z.string()),
  command: z.array(z.string()),
  isRootReadOnly: z.boolean(),
  capDrop: z.array(z.string()),
  capAdd: z.array(z.string()),
  canGainPrivileges: z.boolean(),
  network: z.string(),
  ipc: z.string(),
  cgroup: z.string(),
  tmpfs: z.record(z.string(), z.string()).describe("Options, by path."),
  shmBytes: z.int(),
  mounts: z.array(z.object({ source: z.string(), target: z.string(), readOnly: z.boolean() })),
  sysctls: z.record(z.string(), z.string()),
  ulimits: z.array(z.object({ name: z.string(), soft: z.int(), hard: z.int() })),
  devices: z.array(z.string()),
  gpus: z.int(),
  cpus: z.number().optional(),
  memoryBytes: z.int().optional(),
  pids: z.int().optional(),
  runtime: z.string().optional().describe("Another OCI runtime than the engine's own."),
});
export type ContainerDescription = z.infer<typeof ContainerDescription>;

/** A box as it runs without AgentBox: the same closed container, without the parts that need the daemon. */
export const PortableContainer = ContainerDescription.extend({
  box: z.string(),
  /** Variables whose values come from the shell that starts it; values are never written down. */
  askedEnv: z.array(z.string()),
});
export type PortableContainer = z.infer<typeof PortableContainer>;
