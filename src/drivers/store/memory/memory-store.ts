/**
 * Keeps records as JSON text, so that a caller who changes what it was given changes nothing in the store, and
 * what cannot be stored fails here as it would on a disk.
 */
import { AgentBoxError } from "../../../base/errors.ts";
import type { Box } from "../../../contract/box.ts";
import type { BoxEvent } from "../../../contract/events.ts";
import type { EgressRecord, NewEgressRecord } from "../../../contract/network/egress.ts";
import {
  addToTotal,
  type HostTotal,
  maxCountedHosts,
  otherHosts,
} from "../../../contract/network/host-totals.ts";
import type { SecretGrant } from "../../../contract/secret/grant.ts";
import type { NetworkRule } from "../../../contract/network/policy.ts";
import type { ModelRecord, NewModelRecord, UsageTotals } from "../../../contract/model/usage.ts";
import { lastingKinds, type ReviewKind, type ReviewKinds } from "../../../contract/review/entry.ts";
import type {
  ChainMark,
  EgressQuery,
  EventChain,
  EventQuery,
  ModelQuery,
  ProjectGrant,
  Store,
  StoreChange,
  TrustRecord,
  UsageGroup,
} from "../../../ports/store.ts";
import { type QueueEntry, queueKey } from "../../../ports/queue-records.ts";
import { EventLog } from "./event-log.ts";
import { ModelRecords, sumOf } from "./model-records.ts";
import { canonicalJson } from "../../../base/digest.ts";

/** A person's yes for a secret, as texts by secret, scope and use. Those for one box go with it. */
class SecretGrants {
  readonly #grants = new Map<string, string>();

  change({ remove, revokeSecret, grantSecret }: StoreChange): void {
    if (remove) this.#drop(({ scope }) => scope.kind === "box" && scope.box === remove.name);
    if (revokeSecret) {
      const { secret } = revokeSecret;
      const scope = revokeSecret.scope && canonicalJson(revokeSecret.scope);
      this.#drop((grant) => {
        return grant.secret === secret && (scope === undefined || canonicalJson(grant.scope) === scope);
      });
    }
    if (grantSecret) {
      const { secret, scope, use } = grantSecret;
      this.#grants.set(JSON.stringify([secret, canonicalJson(scope), use]), JSON.stringify(grantSecret));
    }
  }

  list(secret: string | undefined): SecretGrant[] {
    return [...this.#grants]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, text]) => JSON.parse(text) as SecretGrant)
      .filter((grant) => secret === undefined || grant.secret === secret);
  }

  #drop(isMeant: (grant: SecretGrant) => boolean): void {
    for (const [key, text] of this.#grants)
      if (isMeant(JSON.parse(text) as SecretGrant)) this.#grants.delete(key);
  }
}

/** The records about reviews, as texts: a value that cannot be stored fails here as it would on a disk. */
interface Kept {
  readonly kind: ReviewKind;
  readonly key: string;
  readonly box: string;
  readonly text: string;
}

class ReviewEntries {
  readonly #entries = new Map<string, Kept>();

  change({ remove, review = [], dropReview }: StoreChange): void {
    if (remove) {
      for (const [id, { box, kind }] of this.#entries)
        if (box === remove.name && !lastingKinds.includes(kind)) this.#entries.delete(id);
    }
    if (dropReview) {
      const { incarnation, kind, key } = dropReview;
      this.#entries.delete(JSON.stringify([incarnation, kind, key]));
    }
    for (const { kind, key, value } of review) {
      const id = JSON.stringify([value.incarnation, kind, key]);
      this.#entries.set(id, { kind, key, box: value.box, text: JSON.stringify(value) });
    }
  }

  list<K extends ReviewKind>(
    kind: K,
    { incarnation, projectDir }: { readonly incarnation?: string; readonly projectDir?: string },
  ): readonly ReviewKinds[K][] {
    return [...this.#entries.values()]
      .filter((entry) => entry.kind === kind)
      .sort((a, b) => Number.parseInt(a.key, 10) - Number.parseInt(b.key, 10) || (a.key < b.key ? -1 : 1))
      .map(({ text }) => JSON.parse(text) as ReviewKinds[K] & { projectDir?: string })
      .filter((value) => incarnation === undefined || value.incarnation === incarnation)
      .filter((value) => projectDir === undefined || value.projectDir === projectDir);
  }
}

/* The gate's decisions, bounded; what is recorded about a secret is not pushed out by anything else. */

/** Of one box, one verdict, and one secret or none. */
const maxEgressRecords = 20_000;

class EgressRecords {
  #records: EgressRecord[] = [];
  #total = 0;
  readonly #totals = new Map<
    string,
    { readonly incarnation: string; readonly hosts: Map<string, HostTotal> }
  >();

  add(records: readonly NewEgressRecord[]): void {
    for (const record of records) {
      this.#records.push({ id: ++this.#total, ...record });
      this.#addToTotals(record);
    }
    const kept = new Map<string, number>();
    // From the newest on, each up to its share.
    this.#records = this.#records
      .reverse()
      .filter(({ box, verdict, secret }) => {
        const share = JSON.stringify([box, verdict, secret]);
        const count = (kept.get(share) ?? 0) + 1;
        kept.set(share, count);
        return count <= maxEgressRecords;
      })
      .reverse();
  }

  sum(box: string, incarnation: string): HostTotal[] {
    const totals = this.#totals.get(box);
    return totals?.incarnation === incarnation ? [...totals.hosts.values()] : [];
  }

  #addToTotals(record: NewEgressRecord): void {
    const { box, incarnation } = record;
    const known = this.#totals.get(box);
    const hosts = known?.incarnation === incarnation ? known.hosts : new Map<string, HostTotal>();
    this.#totals.set(box, { incarnation, hosts });
    const own = `${record.host}:${record.port}`;
    const isOther = !hosts.has(own) && hosts.size >= maxCountedHosts;
    const { host, port } = isOther ? { host: otherHosts, port: 0 } : record;
    hosts.set(`${host}:${port}`, addToTotal(hosts.get(`${host}:${port}`), { ...record, host, port }));
  }

  list({ after = 0, box, host, verdict, secret, limit, newestFirst }: EgressQuery): EgressRecord[] {
    const hits = this.#records.filter(
      (record) =>
        record.id > after &&
        (box === undefined || record.box === box) &&
        (host === undefined || record.host === host) &&
        (verdict === undefined || record.verdict === verdict) &&
        (secret === undefined || (secret === true ? record.secret !== undefined : record.secret === secret)),
    );
    if (newestFirst) hits.reverse();
    return hits.slice(0, limit);
  }
}

interface StoredBox {
  readonly incarnation: string;
  readonly text: string;
}

const trustKey = (projectDir: string, digest: string): string => JSON.stringify([projectDir, digest]);
const byKey = (a: readonly [string, unknown], b: readonly [string, unknown]): number =>
  a[0] < b[0] ? -1 : 1;

export class MemoryStore implements Store {
  #boxes: ReadonlyMap<string, StoredBox> = new Map();
  #trust: ReadonlyMap<string, string> = new Map();
  readonly #events = new EventLog();
  readonly #grants = new Map<string, Map<string, string>>();
  readonly #egress = new EgressRecords();
  readonly #model = new ModelRecords();
  readonly #review = new ReviewEntries();
  readonly #secretGrants = new SecretGrants();
  readonly #queue = new Map<string, string>();

  async commit(change: StoreChange): Promise<readonly BoxEvent[]> {
    // Everything that can fail happens on copies; the assignments below cannot.
    const boxes = changedBoxes(this.#boxes, change);
    const trust = changedTrust(this.#trust, change);
    const numbered = this.#events.number(change.events);
    this.#boxes = boxes;
    this.#trust = trust;
    if (change.grant) this.#addGrant(change.grant);
    this.#review.change(change);
    this.#secretGrants.change(change);
    for (const key of change.unqueue ?? []) this.#queue.delete(key);
    for (const entry of change.queue ?? []) this.#queue.set(queueKey(entry), JSON.stringify(entry));
    return this.#events.append(numbered);
  }

  async findBox(name: string): Promise<Box | undefined> {
    const found = this.#boxes.get(name);
    return found && (JSON.parse(found.text) as Box);
  }

  async listBoxes(): Promise<readonly Box[]> {
    return [...this.#boxes].sort(byKey).map(([, { text }]) => JSON.parse(text) as Box);
  }

  async listEvents(query: EventQuery): Promise<readonly BoxEvent[]> {
    return this.#events.list(query);
  }

  async lastEventId(): Promise<number> {
    return this.#events.lastId;
  }

  async verifyEvents(mark?: ChainMark): Promise<EventChain> {
    return this.#events.verify(mark);
  }

  async findTrust(projectDir: string, digest: string): Promise<TrustRecord | undefined> {
    const text = this.#trust.get(trustKey(projectDir, digest));
    return text === undefined ? undefined : (JSON.parse(text) as TrustRecord);
  }

  async listTrust(): Promise<readonly TrustRecord[]> {
    return [...this.#trust].sort(byKey).map(([, text]) => JSON.parse(text) as TrustRecord);
  }

  async listGrants(projectDir: string): Promise<readonly NetworkRule[]> {
    const grants = [...(this.#grants.get(projectDir) ?? [])].sort(byKey);
    return grants.map(([, text]) => JSON.parse(text) as NetworkRule);
  }

  async listSecretGrants(secret?: string): Promise<readonly SecretGrant[]> {
    return this.#secretGrants.list(secret);
  }

  async listQueue(): Promise<readonly QueueEntry[]> {
    return [...this.#queue.values()].map((text) => JSON.parse(text) as QueueEntry);
  }

  async recordEgress(records: readonly NewEgressRecord[]): Promise<void> {
    this.#egress.add(records);
  }

  async listEgress(query: EgressQuery): Promise<readonly EgressRecord[]> {
    return this.#egress.list(query);
  }

  async sumEgress(box: string, incarnation: string): Promise<readonly HostTotal[]> {
    return this.#egress.sum(box, incarnation);
  }

  async recordModel(records: readonly NewModelRecord[]): Promise<void> {
    this.#model.add(records);
  }

  async listModel(
    query: ModelQuery & { readonly after?: number; readonly limit: number },
  ): Promise<readonly ModelRecord[]> {
    const { after = 0, limit } = query;
    return this.#model
      .find(query)
      .filter(({ id }) => id > after)
      .slice(0, limit);
  }

  async sumModel(query: ModelQuery): Promise<UsageTotals> {
    return sumOf(this.#model.find(query));
  }

  async groupModel(
    query: ModelQuery,
    by: UsageGroup,
  ): Promise<readonly { readonly key: string; readonly totals: UsageTotals }[]> {
    return this.#model.group(query, by);
  }

  async listReview<K extends ReviewKind>(
    kind: K,
    of: { readonly incarnation?: string; readonly projectDir?: string },
  ): Promise<readonly ReviewKinds[K][]> {
    return this.#review.list(kind, of);
  }

  #addGrant({ projectDir, rule }: ProjectGrant): void {
    const grants = this.#grants.get(projectDir) ?? new Map<string, string>();
    this.#grants.set(projectDir, grants.set(rule.id, JSON.stringify(rule)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#boxes = new Map();
    this.#trust = new Map();
    this.#events.clear();
  }
}

function changedBoxes(
  before: ReadonlyMap<string, StoredBox>,
  change: StoreChange,
): ReadonlyMap<string, StoredBox> {
  const { remove, insert, update } = change;
  if (!remove && !insert && !update) return before;
  const boxes = new Map(before);
  if (remove) boxes.delete(remove.name);
  if (insert) {
    if (boxes.has(insert.name)) {
      throw new AgentBoxError("box.name_taken", `A box named "${insert.name}" exists already.`, {
        hint: `Choose another name, or run: agentbox rm ${insert.name}`,
        facts: { box: insert.name },
      });
    }
    boxes.set(insert.name, { incarnation: insert.incarnation, text: JSON.stringify(insert) });
  }
  if (update) {
    if (boxes.get(update.name)?.incarnation !== update.incarnation) {
      const facts = { box: update.name };
      throw new AgentBoxError("box.not_found", `The box "${update.name}" has been removed.`, { facts });
    }
    boxes.set(update.name, { incarnation: update.incarnation, text: JSON.stringify(update) });
  }
  return boxes;
}

function changedTrust(before: ReadonlyMap<string, string>, change: StoreChange): ReadonlyMap<string, string> {
  const { trust, untrust } = change;
  if (!trust && !untrust) return before;
  const kept = untrust
    ? [...before].filter(([, text]) => {
        const record = JSON.parse(text) as TrustRecord;
        const isOther = untrust.digest !== undefined && untrust.digest !== record.digest;
        return record.projectDir !== untrust.projectDir || isOther;
      })
    : [...before];
  const records = new Map(kept);
  if (trust) records.set(trustKey(trust.projectDir, trust.digest), JSON.stringify(trust));
  return records;
}
