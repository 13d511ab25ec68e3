import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import type { SecretFinding } from "../../../ports/secret-scan.ts";
import { addedLines } from "./added-lines.ts";
import { counted } from "./sentence.ts";

const maxPerFile = 20;

/** Secrets that at least one added line is a part of. */
export function secrets(
  { path }: Change,
  oldText: string | undefined,
  newText: string,
  findings: readonly SecretFinding[],
): Danger[] {
  if (findings.length === 0) return [];
  const isAdded = addedLines(oldText, newText);
  const added = findings.filter(({ line, endLine }) => {
    for (let at = line; at <= endLine; at += 1) if (isAdded(at)) return true;
    return false;
  });
  const dangers: Danger[] = added.slice(0, maxPerFile).map(({ line, what }) => ({
    kind: "secret",
    path,
    line,
    why: `The line looks like it holds a secret (${what}): it is in the history for everyone once it is merged.`,
  }));
  if (added.length > maxPerFile) {
    const why = `The file looks like it holds ${counted(added.length - maxPerFile, "more secret")}.`;
    dangers.push({ kind: "secret", path, why });
  }
  return dangers;
}
