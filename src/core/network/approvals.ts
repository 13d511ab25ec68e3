/** Questions that wait for a person: exactly what would be allowed, for how long, and a no when no answer comes. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/digest.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { NewEvent } from "../../contract/events.ts";
import type { Approval, ApprovalAnswer } from "../../contract/network/egress.ts";
import type { ApprovalRequest, SecretQuestion } from "../../ports/gate.ts";
import type { RecordParts, Using } from "../using.ts";
import { EventBudget } from "./event-budget.ts";
import { noProject, rememberRule, ruleFor } from "./remember-rule.ts";

type Parts = Using<
  RecordParts | "background" | "eventBytes" | "gate" | "getBox" | "ids" | "live" | "locked" | "secretGrants"
>;

const answerWithinMs = 60_000;
const defaultTtlMs = 86_400_000;
/** SECURITY: a box must not flood a person with questions, or hide one among thousands. */
const maxOpenPerBox = 32;
/** SECURITY: asking and giving up in a loop would write two events each time into a log that only grows. */
const questionsPerMinute = 60;
const maxEventPath = 256;

interface Question {
  readonly approval: Approval;
  readonly request: ApprovalRequest;
  /** All who wait for the same answer: one program often opens several connections at once. */
  readonly waiting: Set<(isAllowed: boolean) => void>;
  readonly cancelTimer: () => void;
}

export class Approvals {
  readonly #core: Parts;
  readonly #questions = new Map<number, Question>();

  readonly #budget: EventBudget;

  constructor(core: Parts) {
    this.#core = core;
    this.#budget = new EventBudget(() => core.ports.clock, questionsPerMinute);
  }

  list(): Approval[] {
    return [...this.#questions.values()].map(({ approval }) => approval);
  }

  /** Resolves to whether a person agreed. A question that is open already is not asked twice. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    const known = [...this.#questions.values()].find(({ request: open }) => isSame(open, request));
    const open = [...this.#questions.values()].filter(
      ({ request: { box } }) => box.name === request.box.name,
    );
    if (!known && (open.length >= maxOpenPerBox || !this.#mayAsk(request))) return Promise.resolve(false);
    const question = known ?? this.#open(request);
    return new Promise((resolve) => {
      const settle = (isAllowed: boolean): void => {
        question.waiting.delete(settle);
        resolve(isAllowed);
      };
      question.waiting.add(settle);
      // No program waits any more: the question is withdrawn, so that a late yes allows nothing.
      signal.addEventListener("abort", () => {
        settle(false);
        if (question.waiting.size === 0) this.#close(question, "withdrawn");
      });
    });
  }

  /** SECURITY: a question without a record is not asked. */
  #mayAsk({ box: { name, incarnation } }: ApprovalRequest): boolean {
    return this.#core.eventBytes.hasRoom(incarnation, "receipts") && this.#budget.take(name);
  }

  async answer(id: number, { answer, scope, ttlMs, digest }: ApprovalAnswer): Promise<void> {
    const question = this.#questions.get(id);
    if (!question) throw noSuchQuestion(id);
    // SECURITY: a yes to one question must not answer another that has come to stand under its number.
    if (digest !== undefined && digest !== question.approval.digest) {
      throw new AgentBoxError("approval.changed", `Question ${id} is not the one that was looked at.`, {
        hint: "Look at what it asks now, and answer that.",
      });
    }
    const { secret } = question.request;
    if (secret?.isOnce === true) return this.#close(question, answer, "once");
    if (answer === "allow" && scope !== "once" && secret !== undefined) {
      await this.#rememberSecret(question.request, secret, scope, ttlMs ?? defaultTtlMs);
    } else if (answer === "allow" && scope !== "once") {
      const rule = ruleFor(question.approval, this.#core.ports.clock.nowMs() + (ttlMs ?? defaultTtlMs));
      // A box that starts holds its lock until its services are ready, and one of them may wait for this answer.
      const box = await this.#core.ports.store.findBox(question.approval.box);
      if (box?.state.phase === "starting") this.#close(question, answer, scope);
      await rememberRule(this.#core, question.request.box, scope, rule);
    }
    this.#close(question, answer, scope);
  }

  #open(request: ApprovalRequest): Question {
    const { clock } = this.#core.ports;
    const id = this.#freshId();
    const { box, host, port, method, path, program, secret } = request;
    const askedAtMs = clock.nowMs();
    const asked = {
      id,
      askedAtMs,
      expiresAtMs: askedAtMs + answerWithinMs,
      box: box.name,
      ...omitUndefined({ projectDir: box.projectDir }),
      host,
      port,
      ...omitUndefined({ method }),
      ...(path === undefined ? {} : { path: printable(path) }),
      ...(program === undefined ? {} : { program: printable(program) }),
      ...omitUndefined({ secret: secret?.name }),
      sentence: secret === undefined ? sentenceFor(request) : secretSentence(box, secret),
    };
    const approval: Approval = { ...asked, digest: digestOf(request, asked) };
    const cancelTimer = clock.after(answerWithinMs, () => this.#close(question, "timed_out"));
    const question: Question = { approval, request, waiting: new Set(), cancelTimer };
    this.#questions.set(id, question);
    this.#note("approval.asked", question, { expiresAtMs: approval.expiresAtMs });
    return question;
  }

  /**
   * SECURITY: drawn by chance and not counted. A box that knew the next number could wait until a person has read a
   * harmless question, withdraw it (or sit out a restart) and put another under the number that they are about to type.
   */
  #freshId(): number {
    const id = 100_000 + (Number.parseInt(this.#core.ports.ids.random().slice(0, 8), 16) % 900_000);
    return this.#questions.has(id) ? this.#freshId() : id;
  }

  #close(question: Question, outcome: "allow" | "deny" | "timed_out" | "withdrawn", scope?: string): void {
    if (!this.#questions.delete(question.approval.id)) return;
    question.cancelTimer();
    this.#note("approval.answered", question, { outcome, scope });
    for (const settle of question.waiting) settle(outcome === "allow");
  }

  /** SECURITY: exactly the use that was read to the person, by its digest; another one is another question. */
  async #rememberSecret(
    { box }: ApprovalRequest,
    { name: secret, use, sentence }: SecretQuestion,
    scope: "box" | "project",
    ttlMs: number,
  ): Promise<void> {
    const asked = { secret, use, sentence };
    const { name, incarnation, projectDir } = box;
    if (scope === "box") {
      await this.#core.secretGrants.grant({ kind: "box", box: name, incarnation }, asked, ttlMs);
      return;
    }
    if (projectDir === undefined) throw noProject(name);
    await this.#core.secretGrants.grant({ kind: "project", projectDir }, asked, ttlMs);
  }

  #note(
    type: "approval.asked" | "approval.answered",
    { approval, request }: Question,
    data: Record<string, unknown>,
  ): void {
    const { id, box, host, port, method, path, program, secret } = approval;
    const event: NewEvent = {
      atMs: this.#core.ports.clock.nowMs(),
      type,
      box,
      incarnation: request.box.incarnation,
      // SECURITY: queries carry tokens; a person sees them in the question, the log does not keep them.
      data: {
        approval: id,
        host,
        port,
        method,
        path: path?.replace(/\?.*$/s, "?…").slice(0, maxEventPath),
        program,
        secret,
        ...data,
      },
    };
    this.#core.eventBytes.spend(event, "receipts");
    this.#core.background("noting a question", this.#core.commit({ events: [event] }));
  }
}

/** Also the answer about another person's question. */
export const noSuchQuestion = (id: number): AgentBoxError =>
  new AgentBoxError("approval.not_found", `There is no open question ${id}.`, {
    hint: "List the open ones: agentbox approvals",
  });

/** Over everything that a yes is about, and not over when it was asked: the same wish has the same digest. */
function digestOf(
  { box, host, port, method, path, secret }: ApprovalRequest,
  { sentence }: Pick<Approval, "sentence">,
): string {
  const { name, incarnation, projectDir } = box;
  const about = {
    name,
    incarnation,
    projectDir,
    host,
    port,
    method,
    path,
    secret: secret?.name,
    use: secret?.use,
  };
  return `sha256:${createHash("sha256")
    .update(canonicalJson({ ...about, sentence }))
    .digest("hex")}`;
}

const secretSentence = ({ name }: ApprovalRequest["box"], { sentence }: SecretQuestion): string =>
  printable(`Let the box ${name} ${sentence}.`);

/**
 * SECURITY: a use that needs a yes each time is asked each time, or one yes would serve every program that asks at the
 * same moment.
 */
const isSame = (a: ApprovalRequest, b: ApprovalRequest): boolean =>
  a.secret?.isOnce !== true &&
  b.secret?.isOnce !== true &&
  a.box.name === b.box.name &&
  a.box.incarnation === b.box.incarnation &&
  a.host === b.host &&
  a.port === b.port &&
  a.method === b.method &&
  a.path === b.path &&
  a.secret?.use === b.secret?.use &&
  a.secret?.name === b.secret?.name;

/** Exactly what a yes allows. */
function sentenceFor({ box, host, port, method, path }: ApprovalRequest): string {
  const what =
    method === undefined
      ? `reach ${host} on port ${port}`
      : `${method} ${host}:${port}${printable(path ?? "")}`;
  return `Let the box ${box.name} ${what}.`;
}
