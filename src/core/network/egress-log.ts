/**
 * Every decision of the gate, on its way to the store. Decisions come by the thousand, so they are written together;
 * the event log gets each denial (repeated ones as one with a count) and the first success for each destination, up
 * to a number of events for each box and minute.
 */
import type { NewEvent } from "../../contract/events.ts";
import type { NewEgressRecord } from "../../contract/network/egress.ts";
import type { Using } from "../using.ts";
import { EventBudget } from "./event-budget.ts";

type Parts = Using<"admits" | "background" | "clock" | "commit" | "report" | "store">;

const flushMs = 100;
/** SECURITY: a box that asks a million times must not fill the memory before it fills its own bounded log. */
const maxWaiting = 10_000;
const maxKnownDestinations = 10_000;
/** SECURITY: records are bounded and events are kept for ever, so a box that is denied in a loop gets few of them. */
const eventsPerMinute = 120;
const maxEventPath = 256;

export class EgressLog {
  readonly #core: Parts;
  #waiting: NewEgressRecord[] = [];
  #dropped = 0;
  #isScheduled = false;
  /** Destinations whose first success is in the event log. */
  readonly #reached = new Set<string>();
  readonly #budget: EventBudget;
  readonly #firstBudget: EventBudget;
  readonly #useBudget: EventBudget;
  readonly #refusalBudget: EventBudget;
  #writing: Promise<void> = Promise.resolve();

  constructor(core: Parts) {
    this.#core = core;
    const budgetOf = (
      type: "egress.denied" | "egress.allowed" | "secret.used" | "secret.refused",
    ): EventBudget =>
      new EventBudget(
        () => core.ports.clock,
        eventsPerMinute,
        (box, count) => {
          const atMs = core.ports.clock.nowMs();
          const data = { reason: "limit", count, isRest: true };
          core.background(`noting ${type}`, core.commit({ events: [{ atMs, type, box, data }] }));
        },
      );
    this.#budget = budgetOf("egress.denied");
    // A rule with a wildcard, or learning, lets a box reach as many names as it can make up.
    this.#firstBudget = budgetOf("egress.allowed");
    // SECURITY: apart, or a box could use up what its real uses are written by with refusals.
    this.#useBudget = budgetOf("secret.used");
    this.#refusalBudget = budgetOf("secret.refused");
  }

  add(record: NewEgressRecord): void {
    if (this.#waiting.length >= maxWaiting) this.#dropped += 1;
    else this.#waiting.push(record);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#core.ports.clock.after(flushMs, () => this.#core.background("writing the audit", this.flush()));
  }

  /** Writes what is waiting; later calls wait for earlier ones, so the order stays. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    this.#isScheduled = false;
    const records = this.#waiting;
    const dropped = this.#dropped;
    this.#waiting = [];
    this.#dropped = 0;
    if (records.length === 0) return;
    await this.#core.ports.store.recordEgress(records);
    const events = [...this.#denials(records), ...this.#firsts(records), ...this.#receipts(records)];
    if (dropped > 0)
      this.#core.ports.report({ dropped }, "decisions came faster than they could be recorded");
    if (events.length > 0) await this.#core.commit({ events });
  }

  #denials(records: readonly NewEgressRecord[]): NewEvent[] {
    const groups = new Map<string, { record: NewEgressRecord; count: number }>();
    for (const record of records) {
      if (record.verdict !== "deny") continue;
      const key = [record.box, record.host, record.port, record.method, record.path, record.reason].join(
        "\0",
      );
      const group = groups.get(key);
      if (group) group.count += 1;
      else groups.set(key, { record, count: 1 });
    }
    return [...groups.values()].flatMap(({ record, count }) =>
      this.#admitted(toEvent("egress.denied", record, { count }), { budget: this.#budget, count }),
    );
  }

  /** Uses and refusals of secrets, counted: the log is chained, so a receipt cannot be taken out of it later. */
  #receipts(records: readonly NewEgressRecord[]): NewEvent[] {
    const groups = new Map<string, { record: NewEgressRecord; count: number }>();
    for (const record of records) {
      if (record.secret === undefined) continue;
      const { box, secret, host, port, method, reason, isInjected } = record;
      const key = [box, secret, host, port, method, reason, isInjected].join("\0");
      const group = groups.get(key);
      if (group) group.count += 1;
      else groups.set(key, { record, count: 1 });
    }
    return [...groups.values()].flatMap(({ record, count }) => {
      const { atMs, box, incarnation, secret, host, port, method, reason, isInjected } = record;
      const isUse = isInjected === true;
      const data = { secret, host, port, method, reason, count };
      const event: NewEvent = {
        atMs,
        type: isUse ? "secret.used" : "secret.refused",
        box,
        incarnation,
        data,
      };
      const budget = isUse ? this.#useBudget : this.#refusalBudget;
      return this.#admitted(event, { budget, share: isUse ? "receipts" : "events", count });
    });
  }

  #admitted(event: NewEvent, terms: Parameters<Using<"admits">["admits"]>[1]): NewEvent[] {
    return this.#core.admits(event, terms) ? [event] : [];
  }

  #firsts(records: readonly NewEgressRecord[]): NewEvent[] {
    return records.flatMap((record) => {
      if (record.verdict !== "allow") return [];
      const key = `${record.incarnation} ${record.host}:${record.port} ${record.rule ?? ""}`;
      if (this.#reached.has(key)) return [];
      if (this.#reached.size >= maxKnownDestinations) this.#reached.clear();
      this.#reached.add(key);
      return this.#admitted(toEvent("egress.allowed", record, {}), { budget: this.#firstBudget });
    });
  }
}

function toEvent(
  type: "egress.denied" | "egress.allowed",
  record: NewEgressRecord,
  more: Record<string, unknown>,
): NewEvent {
  const { atMs, box, incarnation, host, port, method, path, program, via, reason, rule, layer } = record;
  return {
    atMs,
    type,
    box,
    incarnation,
    data: {
      host,
      port,
      method,
      path: path?.slice(0, maxEventPath),
      program,
      via,
      reason,
      rule,
      layer,
      ...more,
    },
  };
}
