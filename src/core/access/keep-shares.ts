/** Shares: one box, for one person of the team or for the first to open a one-time link. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { ShareRole } from "../../contract/access/principal.ts";
import type { ShareInfo } from "../../contract/api/schemas/access.ts";
import type { Box } from "../../contract/box.ts";
import type { ShareRecord } from "../../ports/access-records.ts";
import type { Using } from "../using.ts";
import { digestOf, freshCredential, freshId } from "./credential.ts";
import { holderOf, notFound, tokenOf } from "./keep-tokens.ts";
import type { Visibility } from "./visibility.ts";

const maxSharesOfBox = 64;
/** An unused link should not lie in a chat for ever. */
const linkLifeMs = 7 * 86_400_000;

export interface ShareWish {
  readonly may: ShareRole;
  readonly with: { readonly person: string } | { readonly link: true };
  readonly ttlMs?: number | undefined;
}

const infoOf = (core: Using<"access">, share: ShareRecord): ShareInfo => {
  const { id, box, may, person, linkDigest, createdAtMs, expiresAtMs } = share;
  return {
    id,
    box,
    may,
    with:
      person === undefined
        ? { kind: "link", isClaimed: linkDigest === undefined }
        : { kind: "person", person, name: core.access.findPerson(person)?.name ?? person },
    createdAtMs,
    ...omitUndefined({ expiresAtMs }),
  };
};

export async function listShares(
  core: Using<"access" | "clock" | "getBox">,
  name: string,
): Promise<ShareInfo[]> {
  const { incarnation } = await core.getBox(name);
  const nowMs = core.ports.clock.nowMs();
  return core.access.records.state.shares
    .filter((share) => share.box === name && share.incarnation === incarnation)
    .filter(({ expiresAtMs = Infinity }) => expiresAtMs > nowMs)
    .map((share) => infoOf(core, share));
}

/** The code is in this answer and nowhere else. */
export async function createShare(
  core: Using<"access" | "clock" | "getBox" | "note">,
  access: Visibility,
  name: string,
  { may, with: whom, ttlMs }: ShareWish,
): Promise<{ share: ShareInfo; code?: string }> {
  // SECURITY: a token that may share must not make a guest who can do more than itself.
  const missing = (["read", "work"] as const).find(
    (scope) => (scope === "read" || may === "work") && !access.scopes.includes(scope),
  );
  if (missing !== undefined)
    throw new AgentBoxError(
      "access.forbidden",
      `This credential does not have the scope "${missing}" itself.`,
    );
  const box = await core.getBox(name);
  if ((await listShares(core, name)).length >= maxSharesOfBox)
    throw new AgentBoxError("input.invalid", `A box can be shared at most ${maxSharesOfBox} times.`, {
      hint: `Look at: agentbox share ls ${name}`,
    });
  const nowMs = core.ports.clock.nowMs();
  const isLink = "link" in whom;
  const code = freshCredential();
  const parent = tokenOf(core, access);
  const endMs = Math.min(
    nowMs + (ttlMs ?? (isLink ? linkLifeMs : Infinity)),
    parent?.expiresAtMs ?? Infinity,
  );
  const holder = holderOf(access);
  const share: ShareRecord = {
    id: freshId(),
    box: box.name,
    incarnation: box.incarnation,
    may,
    ...(isLink ? { linkDigest: digestOf(code) } : { person: findPerson(core, whom.person) }),
    ...(holder.kind === "person" ? { by: holder.person } : {}),
    createdAtMs: nowMs,
    ...omitUndefined({ madeWith: parent?.id }),
    ...(Number.isFinite(endMs) ? { expiresAtMs: endMs } : {}),
  };
  await core.access.change((state) => ({ ...state, shares: [...state.shares, share] }));
  const { id: shareId, person, expiresAtMs } = share;
  await core.note("box.shared", box, { share: shareId, may, with: person ?? "link", expiresAtMs });
  return { share: infoOf(core, share), ...(isLink ? { code } : {}) };
}

export async function removeShare(
  core: Using<"access" | "getBox" | "note">,
  name: string,
  id: string,
): Promise<void> {
  const box = await core.getBox(name);
  const share = core.access.records.state.shares.find((one) => one.id === id);
  // SECURITY: only of the box that the caller was let in for; an id of another box's share ends nothing.
  if (share?.box !== box.name || share.incarnation !== box.incarnation)
    throw notFound("share", `agentbox share ls ${name}`);
  await core.access.change((state) => ({ ...state, shares: state.shares.filter((one) => one.id !== id) }));
  await core.access.endSessions(({ holder }) => holder.kind === "guest" && holder.share === id, "unshared");
  await core.note("box.unshared", box, { share: id });
}

/** The share is gone, and so are the sessions of all who came in by it. */
export async function forgetShares(core: Using<"access">, { name, incarnation }: Box): Promise<void> {
  const isOfBox = (share: ShareRecord): boolean => share.box === name && share.incarnation === incarnation;
  const ids = new Set(core.access.records.state.shares.filter(isOfBox).map(({ id }) => id));
  if (ids.size === 0) return;
  await core.access.endSessions(
    ({ holder }) => holder.kind === "guest" && ids.has(holder.share),
    "box removed",
  );
  await core.access.change((state) => ({ ...state, shares: state.shares.filter((one) => !isOfBox(one)) }));
}

function findPerson(core: Using<"access">, text: string): string {
  const wanted = text.toLowerCase();
  const { people } = core.access.records.state;
  // SECURITY: only by an address that the provider vouches for; some let people write any.
  const hits = people.filter(
    ({ id, email, isEmailVerified }) => id === text || (isEmailVerified === true && email === wanted),
  );
  if (hits.length === 1 && hits[0]) return hits[0].id;
  throw new AgentBoxError("access.not_found", "No person of this name has signed in here yet.", {
    hint: "They must sign in once; or share by link.",
  });
}
