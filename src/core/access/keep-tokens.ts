/** Access tokens for programs: made, listed and ended by the one they act for. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { isOfHost } from "../../contract/access/principal.ts";
import type { Scope } from "../../contract/access/scope-names.ts";
import { scopes as allScopes } from "../../contract/access/scope-names.ts";
import type { TokenInfo } from "../../contract/api/schemas/access.ts";
import type { Holder, TokenRecord } from "../../ports/access-records.ts";
import type { Using } from "../using.ts";
import type { Caller } from "./caller.ts";
import { digestOf, freshCredential, freshId } from "./credential.ts";
import type { Visibility } from "./visibility.ts";

/** So that people and secret scanners know one when they see it. */
const tokenPrefix = "abt_";
const maxTokens = 200;

/** For whom what a caller makes acts. Guests make nothing. */
export function holderOf({ principal }: Caller): Holder {
  const { kind, ...who } = principal.kind === "token" ? principal.of : principal;
  if (kind === "person" && "id" in who) return { kind, person: who.id };
  if (kind === "owner") return { kind };
  throw new AgentBoxError("access.forbidden", "A guest has no tokens.");
}

const isSameHolder = (one: Holder, other: Holder): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A caller of the host sees and ends everyone's tokens. */
export const isTheirs = (access: Visibility, { holder }: { readonly holder: Holder }): boolean =>
  isOfHost(access.principal) || isSameHolder(holder, holderOf(access));

const infoOf = (
  core: Using<"access">,
  { digest: _digest, madeWith: _madeWith, holder, ...token }: TokenRecord,
): TokenInfo => ({
  ...token,
  holder: core.access.holderName(holder),
});

export const listTokens = (core: Using<"access">, access: Visibility): TokenInfo[] =>
  core.access.records.state.tokens
    .filter((token) => isTheirs(access, token))
    .map((token) => infoOf(core, token));

export async function createToken(
  core: Using<"access" | "clock" | "note">,
  access: Visibility,
  { name, scopes, ttlMs }: { name: string; scopes: readonly Scope[]; ttlMs?: number | undefined },
): Promise<{ token: TokenInfo; value: string }> {
  // SECURITY: what a token makes can never do more, or last longer, than the token itself.
  const missing = scopes.find((scope) => !access.scopes.includes(scope));
  if (missing !== undefined)
    throw new AgentBoxError(
      "access.forbidden",
      `This credential does not have the scope "${missing}" itself.`,
    );
  const { state } = core.access.records;
  if (state.tokens.length >= maxTokens)
    throw new AgentBoxError("input.invalid", `There can be at most ${maxTokens} access tokens.`, {
      hint: "Remove some: agentbox token ls",
    });
  const nowMs = core.ports.clock.nowMs();
  const parent = tokenOf(core, access);
  const endMs = Math.min(nowMs + (ttlMs ?? Infinity), parent?.expiresAtMs ?? Infinity);
  const value = freshCredential(tokenPrefix);
  const token: TokenRecord = {
    id: freshId(),
    name,
    digest: digestOf(value),
    scopes: allScopes.filter((scope) => scopes.includes(scope)),
    holder: holderOf(access),
    ...omitUndefined({ madeWith: parent?.id }),
    createdAtMs: nowMs,
    ...(Number.isFinite(endMs) ? { expiresAtMs: endMs } : {}),
  };
  await core.access.change((before) => ({ ...before, tokens: [...before.tokens, token] }));
  await core.note("token.created", undefined, { token: token.id, name, scopes: token.scopes });
  return { token: infoOf(core, token), value };
}

/** The record of the token that a caller came in with. */
export const tokenOf = (core: Using<"access">, { credential }: Caller): TokenRecord | undefined =>
  core.access.records.state.tokens.find(({ id }) => credential.kind === "token" && id === credential.id);

/** SECURITY: with everything that was made with it, or a thief would keep what they made before. */
export async function removeToken(
  core: Using<"access" | "note">,
  access: Visibility,
  id: string,
): Promise<void> {
  const { tokens, shares } = core.access.records.state;
  const token = tokens.find((one) => one.id === id);
  if (!token || !isTheirs(access, token)) throw notFound("token", "agentbox token ls");
  const ended = new Set([id]);
  // A token that made another stands before it in the records.
  for (const one of tokens) if (one.madeWith !== undefined && ended.has(one.madeWith)) ended.add(one.id);
  const isOfEnded = (one: { readonly madeWith?: string | undefined }): boolean =>
    one.madeWith !== undefined && ended.has(one.madeWith);
  const unshared = new Set(shares.filter(isOfEnded).map((share) => share.id));
  await core.access.change((state) => ({
    ...state,
    tokens: state.tokens.filter((one) => !ended.has(one.id)),
    shares: state.shares.filter((one) => !unshared.has(one.id)),
    receivers: state.receivers.filter((one) => !isOfEnded(one)),
  }));
  await core.access.endSessions(
    ({ holder }) => holder.kind === "guest" && unshared.has(holder.share),
    "unshared",
  );
  for (const one of tokens.filter((each) => ended.has(each.id)))
    await core.note("token.removed", undefined, { token: one.id, name: one.name });
}

export const notFound = (what: string, list: string): AgentBoxError =>
  new AgentBoxError("access.not_found", `There is no such ${what}.`, { hint: `List them: ${list}` });
