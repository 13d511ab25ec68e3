/** Questions that wait for a person: exactly what would be allowed, for how long, and a no when no answer comes. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/digest.ts";
import { parseDuration } from "../../base/duration.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { NewEvent } from "../../contract/events.ts";
import type { Approval, ApprovalAnswer, MissedApproval } from "../../contract/network/egress.ts";
import type { ApprovalRequest, SecretQuestion } from "../../ports/gate.ts";
import { parseUserConfig } from "../../manifest/index.ts";
import type { RecordParts, Using } from "../using.ts";
import { EventBudget } from "./event-budget.ts";
import { MissedQuestions } from "./missed-questions.ts";
import { noProject, rememberRule, ruleFor } from "./remember-rule.ts";

type Parts = Using<
  | RecordParts
  | "background"
  | "eventBytes"
  | "gate"
  | "getBox"
  | "host"
  | "ids"
  | "live"
  | "locked"
  | "secretGrants"
>;

/** Programs that give up earlier withdraw their question; this is for those that would wait for ever. */
const defaultWaitMs = 5 * 60_000;
const waitBoundsMs = { least: 10_000, most: 3_600_000 };
/** A box can ask as often as it likes, and the config is a file. */
const configAgeMs = 1_000;
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

/** How long a question waits; a config that cannot be read leaves the default. */
const readWaitMs = async (core: Using<"host">): Promise<number> => {
  const file = await core.ports.host.readUserConfig();
  const config = file && parseUserConfig(file.text, { file: file.file }).config;
  const wait = parseDuration(config?.approvals?.wait ?? "") ?? defaultWaitMs;
  return Math.min(waitBoundsMs.most, Math.max(waitBoundsMs.least, wait));
};

export class Approvals {
  readonly #core: Parts;
  readonly #questions = new Map<number, Question>();

  readonly #missed = new MissedQuestions();
  readonly #budget: EventBudget;
  #wait: { readonly ms: Promise<number>; readonly readAtMs: number } | undefined;

  constructor(core: Parts) {
    this.#core = core;
    this.#budget = new EventBudget(() => core.ports.clock, questionsPerMinute);
  }

  list(): Approval[] {
    return [...this.#questions.values()].map(({ approval }) => approval);
  }

  listMissed(): MissedApproval[] {
    return this.#missed.list();
  }

  /** A question that can be answered, open or missed. */
  find(id: number): Approval | undefined {
    return (this.#questions.get(id) ?? this.#missed.find(id))?.approval;
  }

  /** The box is gone: nothing of what it asked can be allowed any more. */
  forget(box: { readonly incarnation: string }): void {
    this.#missed.forget(box);
  }

  /** The same as `ask`, for as long as the user config says. */
  async askAsConfigured(request: ApprovalRequest, signal: AbortSignal): Promise<boolean> {
    const nowMs = this.#core.ports.clock.monotonicMs();
    if (this.#wait === undefined || nowMs - this.#wait.readAtMs > configAgeMs)
      this.#wait = { ms: readWaitMs(this.#core).catch(() => defaultWaitMs), readAtMs: nowMs };
    return this.ask(request, signal, await this.#wait.ms);
  }

  /** Resolves to whether a person agreed. A question that is open already is not asked twice. */
  ask(request: ApprovalRequest, signal: AbortSignal, waitMs = defaultWaitMs): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    const known = [...this.#questions.values()].find(({ request: open }) => isSame(open, request));
    const open = [...this.#questions.values()].filter(
      ({ request: { box } }) => box.name === request.box.name,
    );
    if (!known && (open.length >= maxOpenPerBox || !this.#mayAsk(request))) return Promise.resolve(false);
    const question = known ?? this.#open(request, waitMs);
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

  async answer(id: number, choice: ApprovalAnswer): Promise<void> {
    const { answer, scope, ttlMs, digest } = choice;
    const question = this.#questions.get(id);
    if (!question) return this.#answerMissed(id, choice);
    // SECURITY: a yes to one question must not answer another that has come to stand under its number.
    if (digest !== undefined && digest !== question.approval.digest) throw changed(id);
    const { secret } = question.request;
    if (secret?.isOnce === true) return this.#close(question, answer, "once");
    if (answer === "allow" && scope !== "once") {
      // A box that starts holds its lock until its services are ready, and one of them may wait for this answer.
      const box = await this.#core.ports.store.findBox(question.approval.box);
      const isStarting = secret === undefined && box?.state.phase === "starting";
      await this.#remember(question, scope, ttlMs, () => {
        if (isStarting) this.#close(question, answer, scope);
      });
    }
    this.#close(question, answer, scope);
  }

  /** SECURITY: nothing waits, so there is no "once"; and only what was shown, for the box that asked, while it is there. */
  async #answerMissed(id: number, { answer, scope, ttlMs, digest }: ApprovalAnswer): Promise<void> {
    const question = this.#missed.find(id);
    if (!question) throw noSuchQuestion(id);
    const { box } = question.request;
    if (digest !== undefined && digest !== question.approval.digest) throw changed(id);
    if (answer === "allow" && (scope === "once" || digest === undefined)) {
      throw new AgentBoxError("approval.not_found", `Question ${id} is over: the program no longer waits.`, {
        hint: `Allow it from now on: agentbox approvals allow ${id} --scope box`,
      });
    }
    const live = await this.#core.ports.store.findBox(box.name);
    if (live?.incarnation !== box.incarnation) {
      this.#missed.forget(box);
      throw noSuchQuestion(id);
    }
    if (answer === "allow" && scope !== "once") await this.#remember(question, scope, ttlMs);
    this.#missed.drop(question.approval.digest);
    this.#note("approval.answered", question, { outcome: answer, scope, late: true });
  }

  /** Allows exactly what was asked from now on, for a time. */
  async #remember(
    { approval, request }: Pick<Question, "approval" | "request">,
    scope: "box" | "project",
    ttlMs = defaultTtlMs,
    onChecked: () => void = () => undefined,
  ): Promise<void> {
    const { secret } = request;
    if (secret !== undefined) return this.#rememberSecret(request, secret, scope, ttlMs);
    const rule = ruleFor(approval, this.#core.ports.clock.nowMs() + ttlMs);
    onChecked();
    await rememberRule(this.#core, request.box, scope, rule);
  }

  #open(request: ApprovalRequest, waitMs: number): Question {
    const { clock } = this.#core.ports;
    const id = this.#freshId();
    const { box, host, port, method, path, program, secret } = request;
    const askedAtMs = clock.nowMs();
    const asked = {
      id,
      askedAtMs,
      expiresAtMs: askedAtMs + waitMs,
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
    const cancelTimer = clock.after(waitMs, () => this.#close(question, "timed_out"));
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
    return this.find(id) ? this.#freshId() : id;
  }

  #close(question: Question, outcome: "allow" | "deny" | "timed_out" | "withdrawn", scope?: string): void {
    if (!this.#questions.delete(question.approval.id)) return;
    question.cancelTimer();
    const isMissed = outcome === "timed_out" || outcome === "withdrawn";
    if (isMissed) this.#missed.keep(question, this.#core.ports.clock.nowMs());
    else this.#missed.drop(question.approval.digest);
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
    { approval, request }: Pick<Question, "approval" | "request">,
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

const changed = (id: number): AgentBoxError =>
  new AgentBoxError("approval.changed", `Question ${id} is not the one that was looked at.`, {
    hint: "Look at what it asks now, and answer that.",
  });

/** Also the answer about another person's question. */
export const noSuchQuestion = (id: number): AgentBoxError =>
  new AgentBoxError("approval.not_found", `There is no open question ${id}.`, {
    hint: "List the open ones: agentbox approvals",
  });

/** Over everything that a yes is about, and not over when it was asked: the same request has the same digest. */
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
