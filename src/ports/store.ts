/**
 * Durable state of the daemon. A box record and the events that explain it change together or not at all, so that
 * the log never tells another story than the records do.
 */
import type { Box } from "../contract/box.ts";
import type { BoxEvent, NewEvent } from "../contract/events.ts";
import type { EgressRecord, NewEgressRecord } from "../contract/network/egress.ts";
import type { HostTotal } from "../contract/network/host-totals.ts";
import type { NewModelRecord, ModelRecord, UsageTotals } from "../contract/model/usage.ts";
import type { ReviewEntry, ReviewKind, ReviewKinds } from "../contract/review/entry.ts";
import type { NetworkRule } from "../contract/network/policy.ts";
import type { GrantScope, SecretGrant } from "../contract/secret/grant.ts";
import type { QueueEntry } from "./queue-records.ts";

export interface TrustRecord {
  /** Real path of the project whose manifest asked. */
  readonly projectDir: string;
  /** Digest of exactly what was asked. */
  readonly digest: string;
  /** The readable list the person saw. */
  readonly requests: readonly string[];
  readonly grantedAtMs: number;
}

export interface StoreChange {
  /** Inserted; fails with box.name_taken when the name is in use. */
  readonly insert?: Box;
  /** Replaces the record of the same name and incarnation; fails with box.not_found when it is gone. */
  readonly update?: Box;
  readonly remove?: { readonly name: string };
  readonly trust?: TrustRecord;
  readonly untrust?: { readonly projectDir: string; readonly digest?: string | undefined };
  /** A person's yes for every box of a project; replaces a rule of the same id. */
  readonly grant?: ProjectGrant;
  /** Replaces a grant of the same secret, scope and use. */
  readonly grantSecret?: SecretGrant;
  /** Takes back the grants of a secret: all of them, or those of one scope. A box's own go with the box. */
  readonly revokeSecret?: { readonly secret: string; readonly scope?: GrantScope | undefined };
  /** Replaces an entry of the same box, kind and key. Those of a box go with it, but for the kinds that last. */
  readonly review?: readonly ReviewEntry[];
  /** Replaces an entry of the same key. */
  readonly queue?: readonly QueueEntry[];
  /** Keys of entries that go. */
  readonly unqueue?: readonly string[];
  /** Removes an entry; one that is not there is no error. */
  readonly dropReview?: { readonly incarnation: string; readonly kind: ReviewKind; readonly key: string };
  readonly events: readonly NewEvent[];
}

/** A rule that a person added for a project when a box asked. */
export interface ProjectGrant {
  readonly projectDir: string;
  readonly rule: NetworkRule;
}

export interface EventChain {
  /** Events that are what was written, from the first one on; their number is the id of the last of them. */
  readonly events: number;
  /** Digest of the last of them; empty for an empty log. */
  readonly head: string;
  /** The first event that is not what was written, or is missing. */
  readonly brokenAt?: number | undefined;
}

/** An earlier note of the log: its last event then, and the digest of it. */
export interface ChainMark {
  readonly id: number;
  readonly head: string;
}

export interface EgressQuery {
  /** Only records with a greater id. */
  readonly after?: number | undefined;
  readonly box?: string | undefined;
  readonly host?: string | undefined;
  readonly verdict?: "allow" | "deny" | undefined;
  /** Only records about this secret; `true`: about any. */
  readonly secret?: string | true | undefined;
  readonly limit: number;
  /** Newest first; the default is oldest first. */
  readonly newestFirst?: boolean | undefined;
}

export interface EventQuery {
  /** Only events with a greater id. */
  readonly after?: number | undefined;
  /** Only events with a smaller id. */
  readonly before?: number | undefined;
  readonly box?: string | undefined;
  readonly type?: string | undefined;
  readonly limit: number;
  /** Newest first; the default is oldest first. */
  readonly newestFirst?: boolean | undefined;
}

/** Which requests to models are meant; all of what is given must hold. */
export interface ModelQuery {
  readonly box?: string | undefined;
  readonly incarnation?: string | undefined;
  readonly run?: number | undefined;
  readonly agent?: string | undefined;
  readonly projectDir?: string | undefined;
  /** The box of this name and every box below it. */
  readonly tree?: string | undefined;
  readonly fromMs?: number | undefined;
  /** Not included. */
  readonly toMs?: number | undefined;
}

export const usageGroups = ["box", "agent", "project", "model", "day"] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface Store extends AsyncDisposable {
  /** All of it or none of it. Returns the events with their numbers, in order, without holes. */
  commit(change: StoreChange): Promise<readonly BoxEvent[]>;
  findBox(name: string): Promise<Box | undefined>;
  listBoxes(): Promise<readonly Box[]>;
  listEvents(query: EventQuery): Promise<readonly BoxEvent[]>;
  lastEventId(): Promise<number>;
  findTrust(projectDir: string, digest: string): Promise<TrustRecord | undefined>;
  listTrust(): Promise<readonly TrustRecord[]>;
  listGrants(projectDir: string): Promise<readonly NetworkRule[]>;
  /** Also those that have ended; in order of secret, scope and use. */
  listSecretGrants(secret?: string): Promise<readonly SecretGrant[]>;
  /**
   * Reads the whole event log again. Each event carries a digest over itself and the digest of the one before, so a
   * change, a hole or another order shows at the first event that is not what was written. A log that lost its end is
   * still a chain: that shows only against a mark that was noted elsewhere before.
   */
  verifyEvents(mark?: ChainMark): Promise<EventChain>;
  /** In the order of their keys as numbers, or as texts. */
  listReview<K extends ReviewKind>(
    kind: K,
    of: { readonly incarnation?: string; readonly projectDir?: string },
  ): Promise<readonly ReviewKinds[K][]>;
  /** In no order; tasks say which is theirs. */
  listQueue(): Promise<readonly QueueEntry[]>;
  /**
   * The gate's decisions. Bounded for each box and verdict, and apart from those for each secret they are about: the
   * oldest of these go when there are too many.
   */
  recordEgress(records: readonly NewEgressRecord[]): Promise<void>;
  /** Requests to models. They are what budgets and costs are counted from, so they are never dropped. */
  recordModel(records: readonly NewModelRecord[]): Promise<void>;
  listModel(
    query: ModelQuery & { readonly after?: number; readonly limit: number },
  ): Promise<readonly ModelRecord[]>;
  /** Sums, in one query. A record without usage counts with its estimate. */
  sumModel(query: ModelQuery): Promise<UsageTotals>;
  /** Sums by one property, the greatest cost first; days are UTC, as YYYY-MM-DD. */
  groupModel(
    query: ModelQuery,
    by: UsageGroup,
  ): Promise<readonly { readonly key: string; readonly totals: UsageTotals }[]>;
  listEgress(query: EgressQuery): Promise<readonly EgressRecord[]>;
  /** The sums of all records of one box by host, also of those that have gone since. */
  sumEgress(box: string, incarnation: string): Promise<readonly HostTotal[]>;
}

export interface StoreModule {
  readonly kind: "store";
  readonly name: string;
  readonly apiVersion: 1;
  /** `location` is a path for file-based stores; ignored by the memory store. */
  open(location: string): Promise<Store>;
}
