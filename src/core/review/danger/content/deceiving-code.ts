import { addedLines } from "../added-lines.ts";
import { foldPath, foldedName } from "../fold-path.ts";
import { isProseName, knownFile } from "../inert/extensions.ts";
import { isDataDirectory } from "../inert/directories.ts";
import { deception } from "../lookalikes.ts";
import { type ContentRule, lineDangers } from "./content-rule.ts";

/** A row of blanks of any kind. */
const blanks = /[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+/g;
/** Cheap: without such a row nothing in a text is far to the right. */
const anyGap =
  /\S[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]{3,}\S|^[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]{50,}\S/m;
const minGapColumns = 10;
/** The columns that an editor shows for a tab, as few as is usual. */
const tabColumns = 4;
const maxGapColumns = 80;
const maxIndentColumns = 200;

/** Blanks that push what follows out of the window of an editor or a diff; several rows of them do so together. */
function isFarRight(line: string, isProse: boolean): boolean {
  let columns = 0;
  for (const match of line.matchAll(blanks)) {
    const end = match.index + match[0].length;
    if (end === line.length) return false;
    let width = 0;
    for (const char of match[0]) width += char === "\t" ? tabColumns : 1;
    if (match.index === 0) {
      if (width >= maxIndentColumns) return !isProse;
    } else if (width >= minGapColumns) {
      columns += width;
      // Tables in prose are wide, and their lines end in a bar.
      if (columns >= maxGapColumns && !(isProse && line[end] === "|")) return true;
    }
  }
  return false;
}

const maxLineChars = 10_000;

const isCode = (path: string): boolean => {
  const parts = foldPath(path).split("/");
  const name = parts.pop()!;
  if (isProseName(name) || parts.some(isDataDirectory)) return false;
  const known = knownFile(name);
  return known === undefined || known.language !== undefined || known.fileClass === "settings";
};

/** Whether text can be out of sight there; tables of data are as wide as they are. */
const isRead = (path: string): boolean => isCode(path) || knownFile(foldedName(path))?.fileClass === "prose";

/** Code that is out of sight at the far right, and letters that are not what they look like. */
export const deceivingCode: ContentRule = {
  mayFind: (path, text) =>
    !text.includes("\0") &&
    isRead(path) &&
    (anyGap.test(text) || (isCode(path) && /[^\0-\u007f]/.test(text))),
  find(path, old, text) {
    const isAdded = addedLines(old, text);
    const isSource = isCode(path);
    const found = text.split("\n").flatMap((full, at) => {
      if (!isAdded(at + 1)) return [];
      const line = full.slice(0, maxLineChars);
      const why =
        anyGap.test(line) && isFarRight(line, !isSource)
          ? "Text stands far to the right, after a long row of blanks, out of sight."
          : isSource
            ? deception(line)
            : undefined;
      return why === undefined ? [] : [{ line: at + 1, why }];
    });
    return lineDangers({ kind: "hidden_text", path, found, noun: "line that deceives" });
  },
};
