/** Watches the agents of live boxes: collects facts, tells one event for each change of state, ends the hopeless. */
import { printable } from "../../base/printable.ts";
import type { AgentEvent, AgentState } from "../../contract/agent-events.ts";
import type { Box } from "../../contract/box.ts";
import type { ModelOutcome } from "../../ports/model-gateway.ts";
import type { Core } from "../context.ts";
import {
  type AgentFacts,
  type EndedBy,
  agentSaid,
  newFacts,
  requestEnded,
  requestFailed,
  requestStarted,
} from "./agent-facts.ts";
import { decideState, isHopeless } from "./decide-state.ts";
import { noteState } from "./note-state.ts";

interface Watched {
  readonly box: Box;
  readonly facts: AgentFacts;
  state: AgentState;
}

export class AgentWatch {
  readonly #core: Core;
  readonly #watched = new Map<string, Watched>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** A session of the agent has begun, or was found again. */
  begin(box: Box): void {
    if (!box.run) return;
    const facts = newFacts(box.run.mode, this.#nowMs);
    this.#watched.set(box.name, { box, facts, state: box.run.state });
    this.#review(box.name);
  }

  /** What is known at its end; it is watched no longer. */
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

  said(name: string, event: AgentEvent): void {
    this.#change(name, (facts) => agentSaid(facts, event, this.#nowMs));
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
    const wallMs = this.#core.ports.clock.nowMs();
    const toEnd: { box: Box; by: EndedBy }[] = [];
    for (const [name, { box, facts }] of this.#watched) {
      this.#review(name);
      if (facts.endedBy !== undefined) continue;
      const isLate = box.run?.deadlineMs !== undefined && wallMs >= box.run.deadlineMs;
      if (isLate) toEnd.push({ box, by: "timeout" });
      else if (isHopeless(facts, this.#nowMs)) toEnd.push({ box, by: "give_up" });
    }
    return toEnd;
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

  #review(name: string): void {
    const watched = this.#watched.get(name);
    if (!watched) return;
    const state = decideState(watched.facts, this.#nowMs);
    if (state === watched.state) return;
    watched.state = state;
    this.#core.background("noting an agent's state", noteState(this.#core, watched.box, state));
  }
}
