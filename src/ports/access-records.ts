/**
 * The daemon's records of access: sessions, tokens, shares, people. Of every credential only a digest is here, so that
 * a copy of the records, or of a backup, still lets no one in.
 */
import { z } from "zod";
import { noticeKinds, receiverKinds } from "../contract/notices.ts";
import { ShareRole } from "../contract/access/principal.ts";
import { Scope } from "../contract/access/scope.ts";

const Digest = z.string().regex(/^[0-9a-f]{64}$/);

/** For whom a session or token is. */
const Holder = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("owner") }),
  z.object({ kind: z.literal("person"), person: z.string() }),
  z.object({ kind: z.literal("guest"), share: z.string() }),
]);
export type Holder = z.infer<typeof Holder>;

const SessionRecord = z.object({
  id: z.string(),
  /** The two halves: the cookie that the browser keeps from scripts, and the key that the page keeps from other sites. */
  cookieDigest: Digest,
  keyDigest: Digest,
  holder: Holder,
  agent: z.string().optional(),
  /** The provider's name for its own session, of which this one is a part. */
  sid: z.string().optional(),
  createdAtMs: z.int(),
  usedAtMs: z.int(),
  expiresAtMs: z.int(),
});
export type SessionRecord = z.infer<typeof SessionRecord>;

const TokenRecord = z.object({
  id: z.string(),
  name: z.string(),
  digest: Digest,
  scopes: z.array(Scope),
  holder: Holder,
  /** The token that made it, and with which it ends. */
  madeWith: z.string().optional(),
  createdAtMs: z.int(),
  usedAtMs: z.int().optional(),
  expiresAtMs: z.int().optional(),
});
export type TokenRecord = z.infer<typeof TokenRecord>;

const ShareRecord = z.object({
  id: z.string(),
  /** The box of this name and no later one that is called the same. */
  box: z.string(),
  incarnation: z.string(),
  may: ShareRole,
  /** Absent: with the first to open the link. */
  person: z.string().optional(),
  /** Until the link is opened, once. */
  linkDigest: Digest.optional(),
  /** Who of the team gave it; absent: the owner. */
  by: z.string().optional(),
  /** The token that made it, and with which it ends. */
  madeWith: z.string().optional(),
  createdAtMs: z.int(),
  expiresAtMs: z.int().optional(),
});
export type ShareRecord = z.infer<typeof ShareRecord>;

const PersonRecord = z.object({
  id: z.string(),
  issuer: z.string(),
  subject: z.string(),
  name: z.string(),
  email: z.string().optional(),
  /** Whether the provider says that the address is theirs; a person is not found by one that is not. */
  isEmailVerified: z.boolean().optional(),
  isAdmin: z.boolean(),
  signedInAtMs: z.int(),
  /** When the provider last said that it knows them. */
  confirmedAtMs: z.int().optional(),
  /** The provider has said no; nothing of theirs is good until they sign in again. */
  isBarred: z.boolean().optional(),
});
export type PersonRecord = z.infer<typeof PersonRecord>;

/** Whose box it is, where it is not the owner's. */
const BoxOwnerRecord = z.object({ box: z.string(), incarnation: z.string(), person: z.string() });

/** Where notices of one holder go. */
const ReceiverRecord = z.object({
  id: z.string(),
  kind: z.enum(receiverKinds),
  /** The part of the address that people see. The address itself may be a credential; it is in the vault. */
  to: z.string(),
  wants: z.array(z.enum(noticeKinds)),
  /** SECURITY: only for those who may order: anyone else could send requests into the host's own networks. */
  mayBePrivate: z.boolean(),
  holder: Holder,
  /** The token that made it, and with which it ends. */
  madeWith: z.string().optional(),
  createdAtMs: z.int(),
});
export type ReceiverRecord = z.infer<typeof ReceiverRecord>;

export const AccessState = z.object({
  sessions: z.array(SessionRecord).default([]),
  tokens: z.array(TokenRecord).default([]),
  shares: z.array(ShareRecord).default([]),
  people: z.array(PersonRecord).default([]),
  boxOwners: z.array(BoxOwnerRecord).default([]),
  receivers: z.array(ReceiverRecord).default([]),
  /** Where the dashboard was last, so that pages that are open find it again. */
  port: z.int().min(1).max(65_535).optional(),
});
export type AccessState = z.infer<typeof AccessState>;

export interface AccessRecords {
  /** As it is now; never changed in place. */
  readonly state: AccessState;
  /** One change after the other; when it resolves the change outlives a crash. */
  change(edit: (state: AccessState) => AccessState): Promise<void>;
}
