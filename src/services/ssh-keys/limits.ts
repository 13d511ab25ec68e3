/** Every limit of the keys for ssh, in one place. */

export const sshKeysLimits = {
  connectionsPerBox: 16,
  /** One message, in either direction; the agent itself takes no longer ones. */
  messageBytes: 256 * 1024,
  /** From the first byte of a message to its last. */
  messageMs: 10_000,
  /** From one message to the next: an ssh client keeps its connection while it signs in. */
  idleMs: 120_000,
  agentAnswerMs: 10_000,
  agentStartMs: 10_000,
  /** How long what could not be loaded is left alone before it is tried again. */
  retryMs: 5_000,
} as const;

export type SshKeysLimits = { readonly [K in keyof typeof sshKeysLimits]: number };
