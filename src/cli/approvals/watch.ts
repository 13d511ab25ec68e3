import { isAgentBoxError } from "../../base/errors.ts";
import type { Client } from "../../client/index.ts";
import type { Approval, ApprovalAnswer } from "../../contract/network/egress.ts";
import type { Screen } from "../render/screen.ts";
import { answerText, renderApproval, renderKeys } from "./render.ts";
import type { BoxEvent } from "../../contract/events.ts";

type QuestionChange =
  | { readonly kind: "asked"; readonly approval: Approval }
  | { readonly kind: "closed"; readonly id: number; readonly outcome: string };

type QuestionSource = Pick<Client, "listApprovals" | "listEvents" | "followEvents">;

/** The open questions, then each one as it comes and goes; nothing is missed between the list and the log. */
async function* followQuestions(client: QuestionSource, signal: AbortSignal): AsyncGenerator<QuestionChange> {
  const { lastId: after } = await client.listEvents({ limit: 1, order: "newest" });
  const seen = new Set<number>();
  const fresh = async (): Promise<QuestionChange[]> =>
    (await client.listApprovals())
      .filter(({ id }) => !seen.has(id))
      .map((approval) => {
        seen.add(approval.id);
        return { kind: "asked", approval };
      });
  yield* await fresh();
  for await (const event of client.followEvents({ after }, signal)) {
    // The list has the whole question, with its sentence and deadline; the event only says that there is one.
    if (event.type === "approval.asked") yield* await fresh();
    if (event.type === "approval.answered") yield* closed(event);
  }
}

function closed({ data }: BoxEvent): QuestionChange[] {
  const { approval: id, outcome } = data;
  return typeof id === "number" ? [{ kind: "closed", id, outcome: String(outcome) }] : [];
}

/**
 * SECURITY: a key counts only after its question has been on the screen this long. A box can choose when it asks, so
 * a question must not slip under a key that was meant for the one before.
 */
const readingMs = 700;

const choices: Readonly<Record<string, Pick<ApprovalAnswer, "answer" | "scope">>> = {
  o: { answer: "allow", scope: "once" },
  b: { answer: "allow", scope: "box" },
  p: { answer: "allow", scope: "project" },
  n: { answer: "deny", scope: "once" },
};

/** For pipes and programs: each question as it comes, answered elsewhere. */
export async function printApprovals(client: QuestionSource, screen: Screen): Promise<number> {
  for await (const change of followQuestions(client, new AbortController().signal)) {
    if (screen.isJson) screen.printJsonLine(change);
    else if (change.kind === "asked")
      screen.print(`${renderApproval(change.approval, Date.now(), screen.style)}\n`);
  }
  return 0;
}

type WatchClient = QuestionSource & Pick<Client, "answerApproval">;

/** For a person: one question at a time, in the order they came, each answered with one key. */
export async function watchApprovals(
  client: WatchClient,
  screen: Screen,
  { ttlMs }: { readonly ttlMs: number | undefined },
): Promise<number> {
  const watch = new ApprovalWatch(client, screen, ttlMs);
  return watch.run();
}

class ApprovalWatch {
  readonly #client: WatchClient;
  readonly #screen: Screen;
  readonly #ttlMs: number | undefined;
  readonly #waiting: Approval[] = [];
  readonly #closing = new AbortController();
  #shown: { readonly approval: Approval; readonly atMs: number } | undefined;
  #isAnswering = false;

  constructor(client: WatchClient, screen: Screen, ttlMs: number | undefined) {
    this.#client = client;
    this.#screen = screen;
    this.#ttlMs = ttlMs;
  }

  async run(): Promise<number> {
    const { stdin } = this.#screen.streams;
    stdin.setRawMode(true);
    stdin.resume();
    const leaving = new Promise<void>((resolve, reject) => {
      stdin.on("data", (typed: Buffer) => this.#typed(typed.toString(), resolve, reject));
      stdin.once("end", resolve);
    });
    const following = this.#follow();
    this.#screen.note("Waiting for questions. Press q to leave.");
    try {
      await Promise.race([leaving, following]);
      return 0;
    } finally {
      this.#closing.abort();
      following.catch(() => undefined);
      stdin.removeAllListeners("data");
      stdin.setRawMode(false);
      stdin.pause();
    }
  }

  async #follow(): Promise<void> {
    for await (const change of followQuestions(this.#client, this.#closing.signal)) {
      if (change.kind === "asked") this.#waiting.push(change.approval);
      else this.#closed(change.id, change.outcome);
      this.#showNext();
    }
  }

  #closed(id: number, outcome: string): void {
    const at = this.#waiting.findIndex((approval) => approval.id === id);
    if (at !== -1) this.#waiting.splice(at, 1);
    if (this.#shown?.approval.id !== id || this.#isAnswering) return;
    const words: Readonly<Record<string, string>> = {
      timed_out: "no answer: denied",
      withdrawn: "withdrawn",
    };
    this.#screen.note(`  ${words[outcome] ?? "answered elsewhere"}\n`);
    this.#shown = undefined;
  }

  #showNext(): void {
    if (this.#shown) return;
    const approval = this.#waiting.shift();
    if (!approval) return;
    this.#shown = { approval, atMs: performance.now() };
    const { style } = this.#screen;
    const nowMs = Date.now();
    this.#screen.print(
      `\u0007${renderApproval(approval, nowMs, style)}\n${renderKeys(approval, this.#ttlMs, nowMs, style)}`,
    );
  }

  #typed(key: string, leave: () => void, fail: (error: unknown) => void): void {
    if (key === "q" || key === "\u0003" || key === "\u0004") return leave();
    // A paste is several characters at once, and no answer.
    const choice = Object.hasOwn(choices, key) ? choices[key] : undefined;
    const shown = this.#shown;
    if (!choice || !shown || this.#isAnswering || performance.now() - shown.atMs < readingMs) return;
    if (choice.scope === "project" && shown.approval.projectDir === undefined) return;
    this.#answer(shown.approval, choice).catch(fail);
  }

  async #answer(approval: Approval, choice: Pick<ApprovalAnswer, "answer" | "scope">): Promise<void> {
    this.#isAnswering = true;
    const lasts = choice.scope !== "once" && this.#ttlMs !== undefined;
    const { digest } = approval;
    const answer: ApprovalAnswer = { ...choice, digest, ...(lasts ? { ttlMs: this.#ttlMs } : {}) };
    try {
      await this.#client.answerApproval(approval.id, answer);
      this.#screen.print(`  ${answerText(approval, answer, Date.now(), this.#screen.style)}\n`);
    } catch (error) {
      if (!isAgentBoxError(error, "approval.not_found")) throw error;
      this.#screen.note("  too late: the question was closed\n");
    }
    this.#isAnswering = false;
    this.#shown = undefined;
    this.#showNext();
  }
}
