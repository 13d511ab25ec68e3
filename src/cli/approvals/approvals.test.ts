import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import type { BoxEvent } from "../../contract/events.ts";
import type { Approval, ApprovalAnswer } from "../../contract/network/egress.ts";
import { Screen, type ScreenStreams } from "../render/screen.ts";
import { createStyle } from "../render/style.ts";
import { answerText, renderApproval, renderKeys, untilText } from "./render.ts";
import { printApprovals, watchApprovals } from "./watch.ts";

const plain = createStyle(false);
const question = (id: number, more: Partial<Approval> = {}): Approval => ({
  id,
  askedAtMs: 0,
  expiresAtMs: 60_000,
  box: "shop",
  projectDir: "/home/ann/shop",
  host: "api.example.org",
  port: 443,
  program: "curl",
  sentence: "Let the box shop reach api.example.org on port 443.",
  digest: `sha256:${id}`,
  ...more,
});

/** A daemon with questions: `ask` and `close` do what boxes and other people do. */
class Questions {
  readonly answers: (readonly [number, unknown])[] = [];
  #open: Approval[];
  readonly #events: BoxEvent[] = [];
  #wake = () => {};
  #isOver = false;

  constructor(...open: Approval[]) {
    this.#open = open;
  }

  ask(approval: Approval): void {
    this.#open.push(approval);
    this.#emit("approval.asked", { approval: approval.id });
  }
  close(id: number, outcome: string): void {
    this.#open = this.#open.filter((approval) => approval.id !== id);
    this.#emit("approval.answered", { approval: id, outcome });
  }
  end(): void {
    this.#isOver = true;
    this.#wake();
  }
  #emit(type: BoxEvent["type"], data: BoxEvent["data"]): void {
    this.#events.push({ id: this.#events.length + 1, atMs: 0, type, box: "shop", data });
    this.#wake();
  }

  listApprovals = async () => [...this.#open];
  listEvents = async () => ({ events: [], lastId: 0 });
  answerApproval = async (id: number, answer: Pick<ApprovalAnswer, "answer">) => {
    if (!this.#open.some((approval) => approval.id === id))
      throw new AgentBoxError("approval.not_found", "x");
    this.answers.push([id, answer]);
    this.close(id, answer.answer);
    return {};
  };
  followEvents = async function* (this: Questions): AsyncGenerator<BoxEvent> {
    for (let at = 0; ; ) {
      while (at < this.#events.length) yield this.#events[at++]!;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }.bind(this);
}

function terminal(isJson = false) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const stdout = Object.assign(new PassThrough(), { isTTY: false });
  const streams = { stdin, stdout, stderr: stdout } as unknown as ScreenStreams;
  let shown = "";
  stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
  return { screen: new Screen(streams, { isJson, noColor: true }), stdin, shown: () => shown };
}

describe("what is shown", () => {
  it("names destination, program, what a yes allows and until when", () => {
    const text = renderApproval(question(7, { method: "GET", path: "/v1" }), 20_000, plain);
    expect(text).toContain("question 7: shop wants to reach api.example.org");
    expect(text).toContain("GET api.example.org:443/v1");
    expect(text).toContain("curl (as the box says)");
    expect(text).toContain("Let the box shop reach");
    expect(text).toContain("denied in 40 s");
    expect(renderKeys(question(7), 3_600_000, 0, plain)).toContain(`until ${untilText(3_600_000, 0)}`);
  });

  it("offers no project where there is none", () => {
    expect(renderKeys(question(7), undefined, 0, plain)).toContain("every box of this project");
    const { projectDir: _none, ...alone } = question(7);
    expect(renderKeys(alone, undefined, 0, plain)).not.toContain("project");
  });

  it("cannot be redrawn by the box", () => {
    const hostile = question(7, { program: "\u001b[2Jfriendly", path: "/\u001b]52;c;eA==\u0007" });
    expect(renderApproval(hostile, 0, plain)).not.toMatch(/[\u001b\u0007]/);
  });

  it("says what was answered, and not more", () => {
    const answer = (scope: ApprovalAnswer["scope"]) =>
      answerText(question(7), { answer: "allow", scope, ttlMs: 60_000 }, 0, plain);
    expect(answer("once")).toBe("allowed api.example.org:443, this once");
    expect(answer("box")).toBe(`allowed api.example.org:443 for box shop until ${untilText(60_000, 0)}`);
    expect(answer("project")).toContain("every box of the project");
    expect(answerText(question(7), { answer: "deny", scope: "once" }, 0, plain)).toBe(
      "denied api.example.org:443",
    );
  });
});

describe("watchApprovals", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());
  const read = () => vi.advanceTimersByTime(1_000);

  async function watching(client: Questions, ttlMs?: number) {
    const { screen, stdin, shown } = terminal();
    const done = watchApprovals(client, screen, { ttlMs });
    const see = (text: string) => vi.waitFor(() => expect(shown()).toContain(text));
    return { done, stdin, shown, see };
  }

  it.each([
    ["o", { answer: "allow", scope: "once" }],
    ["b", { answer: "allow", scope: "box", ttlMs: 7_200_000 }],
    ["p", { answer: "allow", scope: "project", ttlMs: 7_200_000 }],
    ["n", { answer: "deny", scope: "once" }],
  ])("takes the key %s", async (key, answer) => {
    const client = new Questions(question(1));
    const { done, stdin, see } = await watching(client, 7_200_000);
    await see("question 1");
    read();
    stdin.write(key);
    await vi.waitFor(() => expect(client.answers).toEqual([[1, { ...answer, digest: "sha256:1" }]]));
    stdin.write("q");
    expect(await done).toBe(0);
  });

  it("shows questions as they come, one at a time", async () => {
    const client = new Questions();
    const { done, stdin, see, shown } = await watching(client);
    await see("Waiting");
    client.ask(question(1));
    client.ask(question(2, { host: "other.example.org" }));
    await see("question 1");
    expect(shown()).not.toContain("question 2");
    read();
    stdin.write("n");
    await see("question 2");
    stdin.write("\u0003");
    expect(await done).toBe(0);
    expect(client.answers).toHaveLength(1);
  });

  it("does not take a key for a question that has only just appeared, nor a paste", async () => {
    const client = new Questions(question(1));
    const { done, stdin, see } = await watching(client);
    await see("question 1");
    stdin.write("b");
    read();
    stdin.write("bob");
    client.close(1, "timed_out");
    await see("no answer");
    expect(client.answers).toEqual([]);
    client.ask(question(2));
    await see("question 2");
    read();
    stdin.write("n");
    await vi.waitFor(() =>
      expect(client.answers).toEqual([[2, { answer: "deny", scope: "once", digest: "sha256:2" }]]),
    );
    stdin.write("q");
    await done;
  });

  it("gives no project what has none", async () => {
    const { projectDir: _none, ...alone } = question(1);
    const client = new Questions(alone);
    const { done, stdin, see } = await watching(client);
    await see("question 1");
    read();
    stdin.write("p");
    stdin.write("q");
    await done;
    expect(client.answers).toEqual([]);
  });
});

it("prints each change as a line of JSON without a terminal", async () => {
  const client = new Questions(question(1));
  const { screen, shown } = terminal(true);
  const done = printApprovals(client, screen);
  await vi.waitFor(() => expect(shown()).toContain("asked"));
  client.close(1, "deny");
  client.end();
  await done;
  expect(
    shown()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { kind: "asked", approval: question(1) },
    { kind: "closed", id: 1, outcome: "deny" },
  ]);
});
