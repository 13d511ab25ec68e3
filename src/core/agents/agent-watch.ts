/** Watches the agents of live boxes: collects facts, tells one event for each change of state, ends the hopeless. */
import { printable } from "../../base/printable.ts";
import type { AgentEvent, AgentState } from "../../contract/agent-events.ts";
import type { Box } from "../../contract/box.ts";
import type { ModelOutcome } from "../../ports/model-gateway.ts";
import type { RecordParts, Using } from "../using.ts";
import {
  type AgentFacts,
  type EndedBy,
  applyAgentEvent,
  newFacts,
  requestEnded,
  requestFailed,
  requestStarted,
} from "./agent-facts.ts";
import { decideState, isHopeless } from "./decide-state.ts";
import { noteConversation, noteState } from "./note-state.ts";

interface Watched {
  readonly box: Box;
  readonly facts: AgentFacts;
  /** On the monotonic clock: setting the wall clock ends no wait early. */
  readonly deadlineMs: number | undefined;
  /** As it was noted last. */
  state: AgentState;
  conversation: string | undefined;
  notes: { readonly sinceMs: number; count: number };
  isFrozen: boolean;
  checkpointedMs: number;
}

/** How long an agent works before its work so far is kept. */
const checkpointEveryMs = 10 * 60_000;

/**
 * SECURITY: an agent that says one thing and its opposite a thousand times a second would fill the event log. So many
 * changes in a minute are noted at once; after that only what holds when the next second is over.
 */
const notesPerMinute = 120;
const minuteMs = 60_000;

export class AgentWatch {
  readonly #core: Using<RecordParts | "admitsFromBox" | "background" | "locked">;
  readonly #watched = new Map<string, Watched>();

  constructor(core: Using<RecordParts | "admitsFromBox" | "background" | "locked">) {
    this.#core = core;
  }

  /** A session of the agent has begun, or was found again. */
  begin(box: Box): void {
    if (!box.run) return;
    const { mode, state, conversation, deadlineMs: wallMs } = box.run;
    const nowMs = this.#nowMs;
    const deadlineMs = wallMs === undefined ? undefined : nowMs + wallMs - this.#core.ports.clock.nowMs();
    const notes = { sinceMs: nowMs, count: 0 };
    const facts = newFacts(mode, nowMs);
    this.#watched.set(box.name, {
      box,
      facts,
      deadlineMs,
      state,
      conversation,
      notes,
      isFrozen: false,
      checkpointedMs: nowMs,
    });
    this.#review(box.name);
    this.#core.background("looking for earlier answers", this.#recall(box, facts));
  }

  /** Its box stands still: silence and failures mean nothing until it goes on. */
  frozen(name: string): void {
    const watched = this.#watched.get(name);
    if (watched) watched.isFrozen = true;
  }

  /** A daemon that found the box frozen has not watched its agent yet. */
  thawed(box: Box): void {
    const watched = this.#watched.get(box.name);
    if (!watched) return this.begin(box);
    watched.isFrozen = false;
    watched.facts.activeMs = this.#nowMs;
    if (watched.facts.failingSinceMs !== undefined) watched.facts.failingSinceMs = this.#nowMs;
  }

  /** The facts at its end; it is watched no longer. */
  end(name: string): AgentFacts | undefined {
    const watched = this.#watched.get(name);
    this.#watched.delete(name);
    return watched?.facts;
  }

  facts(name: string): Readonly<AgentFacts> | undefined {
    return this.#watched.get(name)?.facts;
  }

  requestStarted(name: string): void {
    this.#change(name, (facts) => requestStarted(facts, this.#nowMs));
  }

  requestEnded(name: string, outcome: ModelOutcome): void {
    this.#change(name, (facts) => requestEnded(facts, outcome, this.#nowMs));
  }

  /** It never got as far as being sent. */
  requestRefused(name: string, why: string, isBudget: boolean): void {
    this.#change(name, (facts) => {
      facts.wasOutOfBudget = isBudget;
      if (!isBudget) requestFailed(facts, printable(why), this.#nowMs);
    });
  }

  progressed(name: string): void {
    this.#change(name, (facts) => {
      facts.activeMs = this.#nowMs;
    });
  }

  noteEvent(name: string, event: AgentEvent): void {
    this.#change(name, (facts) => applyAgentEvent(facts, event, this.#nowMs));
  }

  /** A person has said something to it, so it is no longer waiting for them. */
  asked(name: string): void {
    this.#change(name, (facts) => {
      facts.turnDone = undefined;
      facts.isAsking = false;
      facts.lastStop = undefined;
      facts.activeMs = this.#nowMs;
    });
  }

  /** It was made to stop what it did; not every agent says so itself. */
  interrupted(name: string): void {
    this.#change(name, (facts) => {
      facts.turnDone = { isError: false };
      facts.openTools.clear();
      facts.isAsking = false;
    });
  }

  endBy(name: string, by: EndedBy): void {
    const watched = this.#watched.get(name);
    if (watched) watched.facts.endedBy = by;
  }

  /** Time passes: silence turns into a state of its own. Returns the boxes whose agents should be ended. */
  tick(): readonly { readonly box: Box; readonly by: EndedBy }[] {
    const toEnd: { box: Box; by: EndedBy }[] = [];
    for (const [name, { box, facts, deadlineMs, isFrozen }] of this.#watched) {
      if (!isFrozen) this.#review(name, true);
      if (facts.endedBy !== undefined) continue;
      if (deadlineMs !== undefined && this.#nowMs >= deadlineMs) toEnd.push({ box, by: "timeout" });
      else if (!isFrozen && isHopeless(facts, this.#nowMs)) toEnd.push({ box, by: "give_up" });
    }
    return toEnd;
  }

  /** Boxes whose agent has worked for long since its work was last kept. */
  overdue(): readonly Box[] {
    const due = [...this.#watched.values()].filter(
      ({ state, checkpointedMs }) => state === "working" && this.#nowMs - checkpointedMs >= checkpointEveryMs,
    );
    for (const watched of due) watched.checkpointedMs = this.#nowMs;
    return due.map(({ box }) => box);
  }

  /** Seen by an earlier daemon: an agent found at work may need no further answer. */
  async #recall({ name, incarnation, run }: Box, facts: AgentFacts): Promise<void> {
    const { usage } = await this.#core.ports.store.sumModel({ box: name, incarnation, run: run?.turns });
    if (usage.output > 0) facts.answers = Math.max(1, facts.answers);
  }

  get #nowMs(): number {
    return this.#core.ports.clock.monotonicMs();
  }

  #change(name: string, change: (facts: AgentFacts) => void): void {
    const watched = this.#watched.get(name);
    if (!watched) return;
    change(watched.facts);
    this.#review(name);
  }

  #review(name: string, isTick = false): void {
    const watched = this.#watched.get(name);
    if (!watched) return;
    const { box, facts } = watched;
    const state = decideState(facts, this.#nowMs);
    const conversation = facts.conversation ?? watched.conversation;
    if (state === watched.state && conversation === watched.conversation) return;
    if (!this.#mayNote(watched) && !isTick) return;
    if (conversation !== undefined && conversation !== watched.conversation) {
      watched.conversation = conversation;
      this.#core.background("noting a conversation", noteConversation(this.#core, box, conversation));
    }
    if (state === watched.state) return;
    watched.state = state;
    this.#core.background("noting an agent's state", noteState(this.#core, box, state));
  }

  #mayNote(watched: Watched): boolean {
    const nowMs = this.#nowMs;
    if (nowMs - watched.notes.sinceMs >= minuteMs) watched.notes = { sinceMs: nowMs, count: 0 };
    watched.notes.count += 1;
    return watched.notes.count <= notesPerMinute;
  }
}
