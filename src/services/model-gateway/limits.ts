/** Every limit of the model gateway, in one place. Each has a defined end: an answer in the vendor's own shape. */

export const modelLimits = {
  requestBytes: 64 * 2 ** 20,
  /** Requests of one box that are held at the same time, until their answers begin. */
  requestBytesPerBox: 256 * 2 ** 20,
  /** The same for all boxes together; what a box always has is its own. */
  requestBytesTogether: 256 * 2 ** 20,
  requestBytesAlways: 8 * 2 ** 20,
  /** The values and the depth of a request; a long conversation with many tools has some ten thousand. */
  requestValues: 250_000,
  requestDepth: 256,
  /** How fast requests are parsed and judged, in bytes a second: what each box has, one that needs more, and several. */
  paceBytes: 2 * 2 ** 20,
  paceBurstBytes: 16 * 2 ** 20,
  paceAloneBytes: 32 * 2 ** 20,
  paceTogetherBytes: 16 * 2 ** 20,
  /**
   * The bytes of an answer that are read at once: a document, or one line of a stream. A longer one passes, its usage
   * is unknown.
   */
  readBytes: 16 * 2 ** 20,
  /** An answer that is an error is held until it is whole. */
  errorBytes: 2 ** 20,
  connectMs: 10_000,
  /** Before a failed connect is tried once more. */
  retryMs: 250,
  /** A kept connection that breaks so soon was closed before it was used. */
  staleMs: 1_000,
  /** Models think before they speak. */
  firstByteMs: 300_000,
  idleMs: 300_000,
  keepAliveMs: 30_000,
  /** Held by the library until it is whole, so a frame times the sockets is what one box can fill. */
  frameBytes: 16 * 2 ** 20,
  socketsPerBox: 16,
  /** A WebSocket without a request. */
  socketIdleMs: 600_000,
  /** Requests that wait on one WebSocket while another is answered. */
  socketQueue: 8,
  socketBufferBytes: 2 ** 20,
  progressMs: 250,
  /** The tokens reserved for an answer when the request does not say. */
  usualOutput: 16_384,
  /** The most that is reserved then: no vendor's model says more at once. */
  longestOutput: 131_072,
} as const;

export type ModelLimits = { readonly [K in keyof typeof modelLimits]: number };
