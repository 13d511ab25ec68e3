/**
 * Keeps records as JSON text, so that a caller who changes what it was given changes nothing in the store, and
 * what cannot be stored fails here as it would on a disk.
 */
import { AgentBoxError } from "../../../base/errors.ts";
import type { Box } from "../../../contract/box.ts";
import type { BoxEvent } from "../../../contract/events.ts";
import type { EgressRecord, NewEgressRecord } from "../../../contract/network/egress.ts";
import type { SecretGrant } from "../../../contract/secret/grant.ts";
import type { NetworkRule } from "../../../contract/network/policy.ts";
import type { ModelRecord, NewModelRecord, UsageTotals } from "../../../contract/model/usage.ts";
import type { ReviewKind, ReviewKinds } from "../../../contract/review/entry.ts";
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
import { EgressRecords } from "./egress-records.ts";
import { EventLog } from "./event-log.ts";
import { ModelRecords, sumOf } from "./model-records.ts";
import { ReviewEntries } from "./review-entries.ts";
import { SecretGrants } from "./secret-grants.ts";

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

  async recordEgress(records: readonly NewEgressRecord[]): Promise<void> {
    this.#egress.add(records);
  }

  async listEgress(query: EgressQuery): Promise<readonly EgressRecord[]> {
    return this.#egress.list(query);
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
