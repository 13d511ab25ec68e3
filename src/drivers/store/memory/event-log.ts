/** The event log as texts, each with its digest; chained like every other. */
import type { BoxEvent, NewEvent } from "../../../contract/events.ts";
import type { ChainMark, EventChain, EventQuery } from "../../../ports/store.ts";
import { eventDigest, verifyChain } from "../event-chain.ts";

interface Kept {
  readonly text: string;
  readonly digest: string;
}

export class EventLog {
  readonly #events: Kept[] = [];

  get lastId(): number {
    return this.#events.length;
  }

  /** Texts for `append`; fails for what cannot be stored. */
  number(events: readonly NewEvent[]): readonly string[] {
    return events.map((event, i) => JSON.stringify({ id: this.lastId + i + 1, ...event, data: event.data }));
  }

  append(texts: readonly string[]): BoxEvent[] {
    return texts.map((text) => {
      const event = JSON.parse(text) as BoxEvent;
      this.#events.push({ text, digest: eventDigest(event, this.#events.at(-1)?.digest ?? "") });
      return event;
    });
  }

  list({ after = 0, before = Infinity, box, type, limit, newestFirst }: EventQuery): BoxEvent[] {
    const kept = this.#events.slice(Math.max(0, after), Math.max(0, before - 1));
    const candidates = kept.map(({ text }) => JSON.parse(text) as BoxEvent);
    if (newestFirst) candidates.reverse();
    return candidates
      .filter(
        (event) => (box === undefined || event.box === box) && (type === undefined || event.type === type),
      )
      .slice(0, limit);
  }

  verify(mark: ChainMark | undefined): Promise<EventChain> {
    const events = this.#events.map(({ text, digest }) => ({ event: JSON.parse(text) as BoxEvent, digest }));
    const pages = async function* () {
      yield events;
    };
    return verifyChain(pages(), mark);
  }

  clear(): void {
    this.#events.length = 0;
  }
}
