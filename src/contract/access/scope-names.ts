/** Apart from the schema, because the page and every command read these, and neither loads a schema library for it. */

/**
 * The limits of a credential, the harmless first. The last two are as good as the owner's own word, so they are part of
 * a selection only when they are named.
 */
export const scopes = ["read", "work", "review", "approve", "secrets", "host", "trust", "export"] as const;
export type Scope = (typeof scopes)[number];

/** Only the owner makes tokens with these, at the command line. */
export const wordScopes: readonly Scope[] = ["trust", "export"];
