/**
 * OAuth sign-ins and the tokens that come out of them. Guarantees:
 * - Refresh tokens never leave the host, and a new one is kept before the old one is forgotten.
 * - One refresh at a time for each connection, however many boxes need it.
 * - A token that has ended and cannot be refreshed is an error, never an old token in its place.
 */
import type {
  ConnectionPreset,
  ConnectionSpec,
  ConnectionState,
  OAuthTokens,
} from "../contract/secret/connection.ts";

/** The keeper of the tokens: the vault, through the owner of the names. */
export interface TokenKeeper {
  read(secret: string): Promise<OAuthTokens>;
  /** Replaces them; the ones before stay readable for a while. */
  write(secret: string, tokens: OAuthTokens): Promise<void>;
  /** The client's own secret, by its name in the vault. */
  clientSecret(secret: string): Promise<string>;
}

export interface Connections extends AsyncDisposable {
  readonly presets: readonly ConnectionPreset[];
  /** Begins a sign-in; who agrees does so in a browser. */
  start(spec: ConnectionSpec): Promise<ConnectionState>;
  find(id: string): ConnectionState | undefined;
  cancel(id: string): void;
  /** A token that is valid now. Fails with `secret.unavailable` without one. */
  accessToken(
    secret: string,
  ): Promise<{ readonly value: string; readonly extra: Readonly<Record<string, string>> }>;
  /** Reads what an agent's own program keeps of its login. Fails with `secret.invalid`; never with a value in it. */
  readLogin(agent: string, text: string): OAuthTokens;
}
