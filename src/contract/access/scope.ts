import { z } from "zod";

/** What a credential may be limited to, the harmless first. */
export const scopes = ["read", "work", "review", "approve", "secrets", "host"] as const;
export const Scope = z.enum(scopes);
export type Scope = z.infer<typeof Scope>;
