/**
 * The conversations of boxes: what a person asked, what the agent said and did, checkpoints, and the end and cost of each
 * turn. SECURITY: what an agent says is hostile; it is cut and cleaned before it comes here (agents/read-agent.ts), and
 * bounded in number here and in bytes by the log it goes to.
 */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { AgentEvent } from "../../contract/agent-events.ts";
import { Verdict } from "../../contract/agent-events.ts";
import type { Box } from "../../contract/box.ts";
import type { AgentTells, Conversation, ConversationPart } from "../../contract/conversation.ts";
import type { BoxEvent } from "../../contract/events.ts";
import type { Amount } from "../budget/amount.ts";
import { EventBudget } from "../network/event-budget.ts";
import type { Using } from "../using.ts";
import { type ConversationQuery, KeptConversation } from "./kept-conversation.ts";
import { LastActions } from "./last-actions.ts";

type Parts = Using<"agents" | "background" | "budgets" | "clock" | "getBox" | "logs" | "onEvent">;
type Life = Pick<Box, "name" | "incarnation">;

/** Three times what the event log takes: a fast agent makes one or two a second. */
const entriesPerMinute = 1_200;
/** Texts that were passed on and that the agent has not repeated yet. */
const maxGiven = 16;

export class Conversations {
  readonly #core: Parts;
  readonly #kept = new Map<string, KeptConversation>();
  readonly #given = new Map<string, string[]>();
  readonly #lastMessages = new Map<string, string>();
  readonly #rate: EventBudget;
  readonly #actions: LastActions;

  constructor(core: Parts) {
    this.#core = core;
    this.#rate = new EventBudget(
      () => core.ports.clock,
      entriesPerMinute,
      (incarnation, count) => this.#addByIncarnation(incarnation, { kind: "skipped", count }),
    );
    this.#actions = new LastActions(core, (box) => this.#of(box).recent());
    core.onEvent((event) => this.#noticed(event));
  }

  /** AgentBox passes a task or a message on to the agent. */
  asked(box: Life, text: string, from: string | undefined): void {
    const given = this.#given.get(box.incarnation) ?? [];
    this.#given.set(box.incarnation, [...given, plain(text)].slice(-maxGiven));
    this.#add(box, { kind: "asked", text, ...omitUndefined({ from }) });
  }

  /** The agent reports what it does. */
  record(box: Life, event: AgentEvent): void {
    if (event.kind === "usage" || event.kind === "session_started") return;
    if (event.kind === "message") {
      if (event.role === "person" && this.#isRepeated(box, event.text)) return;
      if (event.role === "agent") this.#lastMessages.set(box.incarnation, event.text);
    }
    if (!this.#rate.take(box.incarnation)) return;
    this.#add(box, event.kind === "turn_done" ? this.#withoutEcho(box, event) : event);
  }

  /** At a terminal the end of the agent's answer is the end of a turn; without one the end of the run is. */
  turnEnded(box: Life, end: { readonly verdict?: Verdict; readonly why?: string } = {}): void {
    const atMs = this.#core.ports.clock.nowMs();
    const part = { kind: "turn_ended", tokens: 0, costMicroUsd: 0, durationMs: 0, ...end } as const;
    const { name, incarnation } = box;
    const add = (spent: Amount): void => this.#add(box, part, atMs, spent);
    this.#core.background("ending a turn", this.#core.budgets.sum({ box: name, incarnation }, add));
  }

  async read(name: string, query: ConversationQuery): Promise<Conversation> {
    const box = await this.#core.getBox(name);
    const { entries, firstSeq, lastSeq } = await this.#of(box).read(query);
    return { entries: [...entries], firstSeq, lastSeq, tells: this.#tells(box) };
  }

  /** One line about the newest thing the agent did, as far as it is known at this moment. */
  lastAction(box: Life): string | undefined {
    return this.#actions.find(box);
  }

  #tells({ run, spec }: Box): AgentTells {
    const entry = this.#core.ports.agents[spec.agent.name];
    if (run?.mode === "headless") return entry?.readOutput ? "all" : "only_asked";
    return entry?.readHooks ? "hooks" : "only_asked";
  }

  /** An agent's hooks and some of its output repeat what it was asked. */
  #isRepeated({ incarnation }: Life, text: string): boolean {
    const given = this.#given.get(incarnation) ?? [];
    const repeated = plain(text);
    const at = given.findIndex(
      (one) => one === repeated || (repeated.length > 200 && one.startsWith(repeated)),
    );
    if (at < 0) return false;
    this.#given.set(incarnation, given.slice(at + 1));
    return true;
  }

  /** The text at the end of a turn repeats the last message. */
  #withoutEcho(
    { incarnation }: Life,
    { text, ...done }: Extract<AgentEvent, { kind: "turn_done" }>,
  ): AgentEvent {
    const isEcho = text === undefined || this.#lastMessages.get(incarnation) === text;
    return isEcho ? done : { ...done, text };
  }

  #noticed({ type, box: name, incarnation, data }: BoxEvent): void {
    if (name === undefined || incarnation === undefined) return;
    const box = { name, incarnation };
    if (type === "box.removed") this.#forget(box);
    else if (type === "agent.interrupted") this.#add(box, { kind: "interrupted" });
    else if (type === "agent.ended") {
      const verdict = Verdict.safeParse(data["verdict"]);
      const why = typeof data["why"] === "string" ? { why: data["why"] } : {};
      this.turnEnded(box, verdict.success ? { verdict: verdict.data, ...why } : why);
    } else if (type === "checkpoint.taken" && data["reason"] !== "base") {
      const [number, files, added, deleted] = ["number", "files", "added", "deleted"].map((key) =>
        Number(data[key]),
      );
      this.#add(box, {
        kind: "checkpoint",
        number: number!,
        files: files!,
        added: added!,
        deleted: deleted!,
      });
    }
  }

  #add(box: Life, part: ConversationPart, atMs = this.#core.ports.clock.nowMs(), spent?: Amount): void {
    this.#actions.noticed(box, part);
    const kept = this.#of(box);
    this.#core.background("keeping a conversation", kept.add({ atMs, part, ...omitUndefined({ spent }) }));
  }

  #addByIncarnation(incarnation: string, part: ConversationPart): void {
    const kept = this.#kept.get(incarnation);
    const atMs = this.#core.ports.clock.nowMs();
    if (kept) this.#core.background("keeping a conversation", kept.add({ atMs, part }));
  }

  #of({ name, incarnation }: Life): KeptConversation {
    const kept = this.#kept.get(incarnation) ?? new KeptConversation(this.#core.ports.logs, name);
    this.#kept.set(incarnation, kept);
    return kept;
  }

  #forget({ incarnation }: Life): void {
    this.#kept.delete(incarnation);
    this.#given.delete(incarnation);
    this.#lastMessages.delete(incarnation);
    this.#actions.forget(incarnation);
  }
}

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
