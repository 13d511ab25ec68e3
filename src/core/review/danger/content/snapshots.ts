import { omitUndefined } from "../../../../base/omit-undefined.ts";
import { foldPath } from "../fold-path.ts";
import type { ContentRule } from "./content-rule.ts";

/** `exports[`name`] = `text`;`, blank lines and comments: what a test runner writes itself. */
const entry = /^exports\[\] = ;$/;

/**
 * Snapshots of Jest and Vitest. SECURITY: they look like data, and the test runner evaluates the file as a program; a
 * template text in it is data only as long as it has no expression.
 */
export const snapshots: ContentRule = {
  mayFind: (path) => /(?:^|\/)__snapshots__\/.*\.snap$/.test(foldPath(path)),
  find(path, _, text) {
    const found = statements(text);
    const other = found?.find(
      (one) => one.code.trim() !== "" && !one.code.startsWith("//") && !entry.test(one.code.trim()),
    );
    if (found !== undefined && other === undefined) return [];
    const why = "The test runner runs this file as a program, and it has more in it than texts.";
    return [{ kind: "code_directive", path, ...omitUndefined({ line: other?.line }), why }];
  },
};

interface Statement {
  readonly line: number;
  code: string;
}

/** Each line that begins outside of a text, without its texts; undefined where a value is put into one, or one does not end. */
function statements(text: string): readonly Statement[] | undefined {
  let line = 1;
  let now: Statement = { line, code: "" };
  const found = [now];
  let isInside = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === "\n") line += 1;
    if (isInside && char === "\\" && text[at + 1] !== "\n") at += 1;
    else if (isInside && char === "$" && text[at + 1] === "{") return undefined;
    // SECURITY: in a comment it begins nothing, and what follows would be taken for text.
    else if (char === "`" && (isInside || !now.code.startsWith("//"))) isInside = !isInside;
    else if (!isInside && char === "\n") found.push((now = { line, code: "" }));
    else if (!isInside && char !== "\r") now.code += char;
  }
  return isInside ? undefined : found;
}
