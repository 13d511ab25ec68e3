/** Every limit of the gate, in one place. Each has a defined end; docs/limits.md says which. */

export const gateLimits = {
  connectionsPerBox: 512,
  newConnectionsPerSecond: 5_000,
  requestsPerSecond: 10_000,
  requestsBurst: 20_000,
  /** Requests of one box that are taken at once and then each second; `npm ci` makes a thousand. A handshake counts as ten. */
  paceBurst: 1_000,
  pacePerSecond: 100,
  /** Beyond that: of one busy box, and of several together. */
  paceAlone: 10_000,
  paceTogether: 500,
  /** On one connection of HTTP/1.1 at a time; apt asks for ten. */
  pipelinedRequests: 32,
  approvalsPending: 32,
  /** A secret that is not there after so long waits for a person, and takes the place of an approval. */
  secretPromptMs: 1_000,
  /** Bodies that are held at the same time, because a signature covers them. */
  heldBytesPerBox: 64 * 1024 * 1024,
  firstBytes: 16 * 1024,
  headerBytes: 16 * 1024,
  /** Program names, paths and hosts in records; what is longer is cut. */
  recordedText: 1_024,
  firstBytesMs: 10_000,
  /** A program that stays silent so long is waiting for the server to speak first. */
  silenceMs: 300,
  handshakeMs: 10_000,
  headersMs: 10_000,
  requestBodyIdleMs: 60_000,
  keepAliveMs: 60_000,
  connectMs: 10_000,
  connectAttemptMs: 4_000,
  resolveMs: 10_000,
  idleMs: 600_000,
  upstreamIdleMs: 4_000,
  upstreamIdleConnections: 32,
  leafCertificates: 250,
} as const;

export type GateLimits = { readonly [K in keyof typeof gateLimits]: number };
