/**
 * Runs secretlint's recommended rules and our own patterns over one text; positions and kinds come out, no values.
 */
import { lintSource } from "@secretlint/core";
import { rules as recommended } from "@secretlint/secretlint-rule-preset-recommend";
import { extraKinds, secretName } from "./secret-kinds.ts";

/** Offsets into the text. */
export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  readonly what: string;
}

/**
 * SECURITY: filter-comments lets a comment in the scanned text switch the scan off, and what is scanned was written
 * by the agent. gcp opens the file that the path names, on this host; the key it looks for is found by privatekey.
 */
const refusedRules = new Set([
  "@secretlint/secretlint-rule-filter-comments",
  "@secretlint/secretlint-rule-gcp",
]);

const rules = recommended
  .filter((rule) => !refusedRules.has(rule.meta.id))
  .map((rule) => ({ id: rule.meta.id, rule, options: {} }));

/** `fileName` is one of ours: some rules look at the name only, for package.json and .npmrc. */
export async function findSecrets(text: string, fileName: string): Promise<SecretSpan[]> {
  const { messages } = await lintSource({
    source: { content: text, filePath: fileName, contentType: "text" },
    options: { config: { rules }, noPhysicFilePath: true, maskSecrets: true },
  });
  const spans = messages.map(({ range, messageId }) => ({
    start: range[0],
    end: range[1],
    what: secretName(messageId),
  }));
  for (const { what, pattern } of extraKinds) {
    for (const match of text.matchAll(pattern)) {
      spans.push({ start: match.index, end: match.index + match[0].length, what });
    }
  }
  return spans;
}
