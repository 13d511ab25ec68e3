/**
 * Whether a signature may be made at all, before a person is asked for it. Pure; the ssh-agent process decides again.
 */
import type { SecretBinding, SshDestination } from "../../contract/secret/binding.ts";
import { parseSignIn, type SessionBind } from "./agent-messages.ts";

/** A server a key is bound to, with the keys that this host knows of it. */
export interface KnownServer {
  readonly binding: SecretBinding;
  readonly destination: SshDestination;
  /** As base64. */
  readonly hostKeys: ReadonlySet<string>;
}

export type SignDecision =
  | ({ readonly allow: true } & KnownServer)
  | { readonly allow: false; readonly refusal: SignRefusal };

export const signRefusals = {
  forwarded: "The connection was forwarded to a server, and a server may not sign in elsewhere with the key.",
  not_a_sign_in: "What was to be signed is not a sign-in to an ssh server, and the key signs nothing else.",
  not_bound: "The ssh client did not say which server it signs in to. OpenSSH 8.9 and later does.",
  other_session: "The signature was meant for another session than the one the connection belongs to.",
  other_server: "The server's host key is not one that this host knows of a server the key is bound to.",
  other_user: "The key is bound to another user name of this server.",
  not_granted: "No person has agreed that the box uses this key there.",
  gone: "The program went away before the signature was made.",
  agent_refused: "The ssh agent refused the signature.",
} as const;
export type SignRefusal = keyof typeof signRefusals;

const refuse = (refusal: SignRefusal): SignDecision => ({ allow: false, refusal });

/**
 * SECURITY: each condition stops a way to use the key elsewhere: a signature that is no sign-in, one relayed for
 * another session, for a server that only calls itself by the bound name, or for a server that was given the agent.
 */
export function decideSign(
  { key, data }: { readonly key: Buffer; readonly data: Buffer },
  bind: SessionBind | undefined,
  servers: readonly KnownServer[],
): SignDecision {
  if (bind?.isForwarding) return refuse("forwarded");
  const signIn = parseSignIn(data);
  if (signIn === undefined || !signIn.key.equals(key)) return refuse("not_a_sign_in");
  if (bind === undefined) return refuse("not_bound");
  if (!signIn.sessionId.equals(bind.sessionId)) return refuse("other_session");
  if (signIn.hostKey !== undefined && !signIn.hostKey.equals(bind.hostKey)) return refuse("other_session");
  const hostKey = bind.hostKey.toString("base64");
  const there = servers.filter(({ hostKeys }) => hostKeys.has(hostKey));
  if (there.length === 0) return refuse("other_server");
  const known = there.find(
    ({ destination }) => destination.user === undefined || destination.user === signIn.user,
  );
  return known === undefined ? refuse("other_user") : { allow: true, ...known };
}
