/**
 * The newest thing each agent did, as one line for lists. Known from its reports; after a start of the daemon it is read
 * from the conversation, behind the answer, so that a list never waits for a disk.
 */
import { plainLine } from "../../base/printable.ts";
import { Turns } from "../../base/turns.ts";
import type { Box } from "../../contract/box.ts";
import type { ConversationEntry, ConversationPart } from "../../contract/conversation.ts";

type Life = Pick<Box, "name" | "incarnation">;

const maxLength = 160;
const readsAtATime = 4;

export class LastActions {
  readonly #core: { background(what: string, task: Promise<unknown>): void };
  readonly #read: (box: Life) => Promise<readonly ConversationEntry[]>;
  readonly #known = new Map<string, string | undefined>();
  readonly #turns = new Turns(readsAtATime);

  constructor(
    core: { background(what: string, task: Promise<unknown>): void },
    read: (box: Life) => Promise<readonly ConversationEntry[]>,
  ) {
    this.#core = core;
    this.#read = read;
  }

  noticed({ incarnation }: Life, part: ConversationPart): void {
    const line = actionLine(part);
    if (line !== undefined) this.#known.set(incarnation, line);
  }

  find(box: Life): string | undefined {
    if (!this.#known.has(box.incarnation)) {
      this.#known.set(box.incarnation, undefined);
      this.#core.background("reading a conversation", this.#load(box));
    }
    return this.#known.get(box.incarnation);
  }

  forget(incarnation: string): void {
    this.#known.delete(incarnation);
  }

  async #load(box: Life): Promise<void> {
    const entries = await this.#turns.run(() => this.#read(box));
    const line = entries.map(actionLine).findLast((one) => one !== undefined);
    if (line !== undefined && this.#known.get(box.incarnation) === undefined)
      this.#known.set(box.incarnation, line);
  }
}

/** Undefined for what is no action of the agent, such as an answer of a tool or the end of a turn. */
function actionLine(part: ConversationPart): string | undefined {
  const text = actionText(part);
  if (text === undefined) return undefined;
  const line = plainLine(text.slice(0, 4 * maxLength));
  if (line === "") return undefined;
  return line.length > maxLength ? `${line.slice(0, maxLength - 2)} …` : line;
}

function actionText(part: ConversationPart): string | undefined {
  if (part.kind === "message") return part.role === "agent" ? part.text : undefined;
  if (part.kind === "tool_called") return `${part.tool}: ${part.summary}`;
  if (part.kind === "approval_asked") return `Asks: ${part.what}`;
  return part.kind === "error" ? part.message : undefined;
}
