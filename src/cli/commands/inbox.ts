import { printable } from "../../base/printable.ts";
import { type Need, type NeedKind, needsOf } from "../../contract/needs.ts";
import type { RunCommand } from "../command.ts";
import type { Style } from "../render/style.ts";
import { age, plural, renderTable, shorten } from "../render/table.ts";

/** The command that meets a need. */
export const needCommands = {
  question: () => "agentbox approvals",
  answer: (box) => `agentbox attach ${box}`,
  budget: (box) => `agentbox budget raise ${box} --tokens N`,
  stuck: (box) => `agentbox attach ${box}`,
  failed: (box) => `agentbox logs ${box}`,
  review: (box) => `agentbox diff ${box}`,
} as const satisfies Record<NeedKind, (box: string) => string>;

type ListedNeed = Omit<Need, "box"> & { readonly box: string; readonly command: string };

export const run: RunCommand = async ({ screen, connect }) => {
  const client = await connect();
  const needs = needsOf(await client.listBoxes()).map(
    ({ box: { name }, ...need }): ListedNeed => ({
      ...need,
      box: name,
      command: needCommands[need.kind](name),
    }),
  );
  const missed = (await client.listMissedApprovals()).length;
  if (screen.isJson) screen.printJson({ needs, missed });
  else if (needs.length === 0) screen.print("Nothing needs you.");
  else screen.print(renderNeeds(needs, Date.now(), screen.style));
  if (missed > 0) screen.note(`${plural(missed, "question")} ended without an answer: agentbox approvals`);
  return 0;
};

/** SECURITY: parts of a question are chosen by the box. */
export const renderNeeds = (needs: readonly ListedNeed[], nowMs: number, style: Style): string =>
  renderTable([
    ["BOX", "SINCE", "WHY", "THEN"].map(style.dim),
    ...needs.map(({ box, sentence, sinceMs, command }) => [
      style.bold(shorten(box, 28)),
      age(sinceMs, nowMs),
      printable(sentence),
      command,
    ]),
  ]);
