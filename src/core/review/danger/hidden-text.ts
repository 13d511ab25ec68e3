import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import { addedLines } from "./added-lines.ts";
import { foldedName } from "./fold-path.ts";
import { hiddenCharacter, suspect } from "./hidden-character.ts";
import { isReadable } from "./inert/extensions.ts";
import { counted } from "./sentence.ts";

const maxPerFile = 20;

/** Added lines with characters that a reader of the diff does not see, or sees in another order. */
export function hiddenText(change: Change, oldText: string | undefined, newText: string): Danger[] {
  const { path } = change;
  if (change.isBinary || newText.includes("\0")) {
    if (!isReadable(foldedName(path))) return [];
    const why =
      "It is named like a text but has zero bytes: the diff does not show it, and programs may still run it.";
    return [{ kind: "hidden_text", path, why }];
  }
  if (!suspect.test(newText)) return [];
  const isAdded = addedLines(oldText, newText);
  const dangers: Danger[] = [];
  let left = 0;
  newText.split("\n").forEach((text, at) => {
    const line = at + 1;
    // A byte order mark where one belongs.
    const found = hiddenCharacter(at === 0 ? text.replace(/^\ufeff/, "") : text);
    if (!found || !isAdded(line)) return;
    if (dangers.length >= maxPerFile) left += 1;
    else {
      const why = `The line has a character that is not what it seems (${found.name}): it reads otherwise than it runs.`;
      dangers.push({ kind: "hidden_text", path, line, why });
    }
  });
  if (left > 0) {
    const why = `${counted(left, "more line")} of the file have characters that cannot be seen.`;
    dangers.push({ kind: "hidden_text", path, why });
  }
  return dangers;
}
