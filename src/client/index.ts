/** The SDK: the typed client, and the way to a daemon on this machine. */
export { createClient } from "./client.ts";
export type * from "./client.ts";
export { type PlannedInput, planAll, planProblems } from "./plan-problems.ts";
export { preloadStreams, unixTransport } from "./unix-transport.ts";
export type { Stream, Transport } from "./transport.ts";
