/** Removing boxes from the command line: what would be lost is said first, and what is kept afterwards. */
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import type { Client } from "../../client/index.ts";
import type { RemovedBox, UnmergedWork } from "../../contract/review/removed.ts";
import { unmergedWords } from "../../contract/review/unmerged-words.ts";
import { askYesNo } from "../render/ask.ts";
import { withProgress } from "../render/progress.ts";
import type { Screen } from "../render/screen.ts";
import { age } from "../render/table.ts";

/** Undefined when the person does not want it after all. */
export async function removeAsking(
  screen: Screen,
  client: Client,
  name: string,
  { force, keep }: { readonly force: boolean; readonly keep: boolean },
): Promise<{ readonly removed?: RemovedBox | undefined } | undefined> {
  try {
    return await withProgress(screen, `Removing ${name}`, () => client.removeBox(name, { force, keep }));
  } catch (error) {
    if (!isAgentBoxError(error, "review.unmerged") || !canAsk(screen)) throw error;
    if (!(await askYesNo(screen, `${error.message} Remove it?`))) return undefined;
    return client.removeBox(name, { force: true, keep });
  }
}

export const canAsk = (screen: Screen): boolean => screen.isInteractive && !screen.isJson;

const unmergedPhrase = ({ name, ...work }: { readonly name: string } & UnmergedWork): string =>
  work.files === 0 ? `${name} (cannot be looked at)` : `${name} (${unmergedWords(work)})`;

/** `shop (3 files, +10 -2)`, a line for each. */
export const unmergedLines = (boxes: readonly ({ readonly name: string } & UnmergedWork)[]): string =>
  boxes.map((box) => `  ${unmergedPhrase(box)}`).join("\n");

/** Asks before work is lost; without a terminal it cannot ask. */
export async function mayLose(
  screen: Screen,
  boxes: readonly ({ readonly name: string } & UnmergedWork)[],
  { question, force }: { readonly question: string; readonly force: string },
): Promise<boolean> {
  const unmerged = boxes.filter(({ files, problem }) => files > 0 || problem !== undefined);
  if (unmerged.length === 0 && !canAsk(screen)) return true;
  if (unmerged.length > 0 && !canAsk(screen)) {
    throw new AgentBoxError(
      "review.unmerged",
      `There is unmerged work in ${unmerged.map(unmergedPhrase).join(", ")}.`,
      {
        hint: `Look at it with agentbox diff BOX. To go on all the same: ${force}`,
        facts: { boxes: unmerged.map(({ name }) => name) },
      },
    );
  }
  if (unmerged.length > 0) screen.note(`Unmerged work:\n${unmergedLines(unmerged)}`);
  return askYesNo(screen, question);
}

/** How to take it back, where that is possible. */
export function restoreHint(removed: RemovedBox | undefined, nowMs: number): string {
  if (removed === undefined) return "";
  return `; kept for ${age(nowMs, removed.expiresAtMs + 60_000)}: agentbox restore ${removed.name}`;
}
