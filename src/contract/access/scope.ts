import { z } from "zod";

/** What a credential may be limited to, the harmless first. */
export const scopes = ["read", "work", "review", "approve", "secrets", "host"] as const;
export const Scope = z.enum(scopes);
export type Scope = z.infer<typeof Scope>;

/** In words, for help and for the page that makes tokens. */
export const scopeWords: Readonly<Record<Scope, string>> = {
  read: "see boxes, their output, files and events",
  work: "make, start, stop and use boxes",
  review: "comment on work, merge, push and discard it",
  approve: "answer questions, change policies and budgets, share boxes",
  secrets: "manage the vault, without ever reading a value",
  host: "manage the daemon, images, agents, tokens and sign-ins",
};
