/**
 * Tells people what their boxes need them for, where they asked to be told. Each receiver hears only of boxes that its
 * person sees, of each event once, and no more than a few times a minute; what cannot be delivered is tried again, then
 * noted. What was told is in the event log, so a restart of the daemon tells the rest and repeats nothing.
 */
import { isAgentBoxError, messageOf } from "../../base/errors.ts";
import type { BoxEvent } from "../../contract/events.ts";
import { type Notice, newsMs, noticeOf } from "../../contract/notices.ts";
import type { ReceiverRecord } from "../../ports/access-records.ts";
import type { NoticeMessage } from "../../ports/notice-sender.ts";
import { EventBudget } from "../network/event-budget.ts";
import type { NoticeParts, Using } from "../using.ts";
import { deliver, dropOrphans } from "./deliver.ts";

/** A person reads no more; a box could cause any number. */
const perMinute = 12;
const maxWaiting = 100;
const retryAfterMs = [5_000, 30_000, 120_000] as const;
const recalled = 500;
const maxHeard = 2_000;

interface Delivery {
  readonly receiver: string;
  readonly message: NoticeMessage;
  /** Absent for the count of those that were left out. */
  readonly event?: BoxEvent | undefined;
}

export class Notices {
  readonly #core: Using<NoticeParts>;
  readonly #rate: EventBudget;
  /** One delivery after the other for each receiver, so that they arrive in order and no receiver is flooded. */
  readonly #queues = new Map<string, Delivery[]>();
  /** An event that was read both live and in the log counts once. */
  readonly #heard = new Set<string>();
  #pageUrl: () => string | undefined = () => undefined;

  constructor(core: Using<NoticeParts>) {
    this.#core = core;
    this.#rate = new EventBudget(
      () => core.ports.clock,
      perMinute,
      (receiver, count) => this.#tellCount(receiver, count),
    );
  }

  /** From now on, and what an earlier daemon did not get to. Returns the way to stop. */
  start(pageUrl: () => string | undefined): () => void {
    this.#pageUrl = pageUrl;
    const stop = this.#core.onEvent((event) => this.#hear(event, () => true));
    this.#core.background("telling what was not told yet", this.#catchUp());
    return stop;
  }

  linkTo(path: string): string | undefined {
    const base = this.#pageUrl();
    return base === undefined ? undefined : `${base}${path}`;
  }

  #hear(event: BoxEvent, isUntold: (receiver: ReceiverRecord) => boolean): void {
    const notice = noticeOf(event);
    if (!notice) return;
    for (const receiver of this.#core.access.records.state.receivers)
      if (isUntold(receiver) && this.#isFor(receiver, notice, event) && this.#isFirst(receiver, event))
        if (this.#rate.take(receiver.id))
          this.#enqueue({ receiver: receiver.id, message: this.#messageOf(notice), event });
  }

  #isFirst(receiver: ReceiverRecord, event: BoxEvent): boolean {
    const key = keyOf(receiver.id, event.id);
    if (this.#heard.has(key)) return false;
    this.#heard.add(key);
    for (const oldest of this.#heard) if (this.#heard.size > maxHeard) this.#heard.delete(oldest);
    return true;
  }

  /** SECURITY: asked for each event, so that a share or an account that has ended tells nothing more. */
  #isFor({ wants, holder, madeWith }: ReceiverRecord, { kind }: Notice, event: BoxEvent): boolean {
    return wants.includes(kind) && this.#core.access.showsTo({ holder, madeWith }, event);
  }

  #messageOf({ title, body, kind, path }: Notice): NoticeMessage {
    return { title, body, isUrgent: kind !== "done", link: this.linkTo(path) };
  }

  #tellCount(receiver: string, count: number): void {
    this.#enqueue({
      receiver,
      message: {
        title: `${count} more ${count === 1 ? "notice" : "notices"}`,
        body: "They came faster than they could be told one by one.",
        isUrgent: false,
        link: this.linkTo("/inbox"),
      },
    });
  }

  #enqueue(delivery: Delivery): void {
    const waiting = this.#queues.get(delivery.receiver);
    if (waiting && waiting.length >= maxWaiting) return;
    if (waiting) return void waiting.push(delivery);
    this.#queues.set(delivery.receiver, [delivery]);
    this.#core.background("sending notices", this.#work(delivery.receiver));
  }

  async #work(id: string): Promise<void> {
    const queue = this.#queues.get(id) ?? [];
    try {
      for (let next = queue[0]; next !== undefined; next = queue[0]) {
        await this.#deliver(next);
        queue.shift();
      }
    } finally {
      this.#queues.delete(id);
    }
  }

  async #deliver({ receiver: id, message, event }: Delivery): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const receiver = this.#core.access.records.state.receivers.find((one) => one.id === id);
      if (!receiver) return;
      try {
        await deliver(this.#core, receiver, message);
        return await this.#note("notice.sent", receiver, event, { attempts: attempt + 1 });
      } catch (error) {
        const waitMs = retryAfterMs[attempt];
        const isFinal = waitMs === undefined || (isAgentBoxError(error) && !error.isRetryable);
        if (isFinal) return await this.#note("notice.failed", receiver, event, { reason: messageOf(error) });
        await new Promise<void>((resolve) => void this.#core.ports.clock.after(waitMs, resolve));
      }
    }
  }

  async #note(
    type: "notice.sent" | "notice.failed",
    { id, kind, to }: ReceiverRecord,
    event: BoxEvent | undefined,
    facts: Record<string, unknown>,
  ): Promise<void> {
    await this.#core.note(type, undefined, {
      receiver: id,
      kind,
      to,
      ...(event === undefined ? {} : { event: event.id, about: event.box }),
      ...facts,
    });
  }

  async #catchUp(): Promise<void> {
    const { store, clock } = this.#core.ports;
    await dropOrphans(this.#core);
    if (this.#core.access.records.state.receivers.length === 0) return;
    const sinceMs = clock.nowMs() - newsMs;
    const log = await store.listEvents({ limit: recalled, newestFirst: true });
    const noticed = new Set(
      log
        .filter(({ type }) => type === "notice.sent" || type === "notice.failed")
        .map(({ data }) => keyOf(data["receiver"], data["event"])),
    );
    for (const event of log.toReversed())
      if (event.atMs >= sinceMs)
        this.#hear(
          event,
          ({ id, createdAtMs }) => createdAtMs <= event.atMs && !noticed.has(keyOf(id, event.id)),
        );
  }
}

const keyOf = (receiver: unknown, event: unknown): string => `${String(receiver)} ${String(event)}`;
