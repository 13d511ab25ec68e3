import { omitUndefined } from "../../base/omit-undefined.ts";
import type { SignInInfo } from "../../contract/api/schemas/access.ts";
import { isOfHost, type Me } from "../../contract/access/principal.ts";
import { wordScopes } from "../../contract/access/scope-names.ts";
import type { SessionRecord } from "../../ports/access-records.ts";
import type { Using } from "../using.ts";
import { nameOf } from "./caller.ts";
import { holderOf, notFound } from "./keep-tokens.ts";
import type { Visibility } from "./visibility.ts";

const isTheirs = (access: Visibility, { holder }: SessionRecord): boolean =>
  isOfHost(access.principal) || JSON.stringify(holder) === JSON.stringify(holderOf(access));

export function listSignIns(core: Using<"access">, access: Visibility): SignInInfo[] {
  const { credential } = access;
  return core.access.records.state.sessions
    .filter((session) => isTheirs(access, session))
    .map(({ id, holder, agent, createdAtMs, usedAtMs, expiresAtMs }) => ({
      id,
      kind: holder.kind,
      name: core.access.holderName(holder),
      isThis: credential.kind === "session" && credential.id === id,
      ...omitUndefined({ agent }),
      createdAtMs,
      usedAtMs,
      expiresAtMs,
    }));
}

export async function endSignIn(core: Using<"access">, access: Visibility, id: string): Promise<void> {
  const session = core.access.records.state.sessions.find((one) => one.id === id);
  if (!session || !isTheirs(access, session)) throw notFound("sign-in", "agentbox sign-ins");
  await core.access.endSessions((one) => one.id === id, "ended by hand");
}

export async function signOut(core: Using<"access">, { credential }: Visibility): Promise<void> {
  if (credential.kind === "session")
    await core.access.endSessions(({ id }) => id === credential.id, "signed out");
}

/** The page's view of its own user. */
export function describeCaller(core: Using<"access">, access: Visibility): Me {
  const { principal, credential, scopes } = access;
  const isAdmin = access.isOfHost;
  const { sessions, tokens } = core.access.records.state;
  const found =
    credential.kind === "session"
      ? sessions.find(({ id }) => id === credential.id)
      : tokens.find(({ id }) => credential.kind === "token" && id === credential.id);
  const person = principal.kind === "token" ? principal.of : principal;
  return {
    kind: principal.kind,
    name: nameOf(principal),
    isAdmin,
    // Only the owner reaches the vault and the host, whatever scopes another caller has.
    scopes: scopes.filter(
      (scope) => isAdmin || (scope !== "host" && scope !== "secrets" && !wordScopes.includes(scope)),
    ),
    ...(person.kind === "person" ? { person: person.id } : {}),
    ...(principal.kind === "guest" ? { box: principal.box, may: principal.may } : {}),
    ...(credential.kind === "session" ? { signIn: credential.id } : {}),
    ...omitUndefined({ expiresAtMs: found?.expiresAtMs }),
  };
}
