/** Access tokens for programs: made, listed and ended by the one they act for. */
import { AgentBoxError } from "../../base/errors.ts";
import { isOfHost } from "../../contract/access/principal.ts";
import type { Scope } from "../../contract/access/scope-names.ts";
import { scopes as allScopes } from "../../contract/access/scope-names.ts";
import type { TokenInfo } from "../../contract/api/access-routes.ts";
import type { Holder, TokenRecord } from "../../ports/access-records.ts";
import type { Core } from "../context.ts";
import type { Caller } from "./caller.ts";
import { digestOf, freshCredential, freshId } from "./credential.ts";
import type { Sight } from "./sight.ts";

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

/** Whoever is of the host sees and ends those of everybody. */
const isTheirs = (access: Sight, { holder }: { readonly holder: Holder }): boolean =>
  isOfHost(access.principal) || isSameHolder(holder, holderOf(access));

const infoOf = (core: Core, { digest: _digest, holder, ...token }: TokenRecord): TokenInfo => ({
  ...token,
  holder: core.access.holderName(holder),
});

export const listTokens = (core: Core, access: Sight): TokenInfo[] =>
  core.access.records.state.tokens
    .filter((token) => isTheirs(access, token))
    .map((token) => infoOf(core, token));

export async function createToken(
  core: Core,
  access: Sight,
  { name, scopes, ttlMs }: { name: string; scopes: readonly Scope[]; ttlMs?: number | undefined },
): Promise<{ token: TokenInfo; value: string }> {
  const { principal } = access;
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
  const parentEndMs =
    principal.kind === "token" ? state.tokens.find(({ id }) => id === principal.id)?.expiresAtMs : undefined;
  const endMs = Math.min(nowMs + (ttlMs ?? Infinity), parentEndMs ?? Infinity);
  const value = freshCredential(tokenPrefix);
  const token: TokenRecord = {
    id: freshId(),
    name,
    digest: digestOf(value),
    scopes: allScopes.filter((scope) => scopes.includes(scope)),
    holder: holderOf(access),
    createdAtMs: nowMs,
    ...(Number.isFinite(endMs) ? { expiresAtMs: endMs } : {}),
  };
  await core.access.change((before) => ({ ...before, tokens: [...before.tokens, token] }));
  await core.note("token.created", undefined, { token: token.id, name, scopes: token.scopes });
  return { token: infoOf(core, token), value };
}

export async function removeToken(core: Core, access: Sight, id: string): Promise<void> {
  const token = core.access.records.state.tokens.find((one) => one.id === id);
  if (!token || !isTheirs(access, token)) throw notFound("token", "agentbox token ls");
  await core.access.change((state) => ({ ...state, tokens: state.tokens.filter((one) => one.id !== id) }));
  await core.note("token.removed", undefined, { token: id, name: token.name });
}

export const notFound = (what: string, list: string): AgentBoxError =>
  new AgentBoxError("access.not_found", `There is no such ${what}.`, { hint: `List them: ${list}` });
