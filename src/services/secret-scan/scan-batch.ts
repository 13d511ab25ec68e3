/**
 * Scans many small texts as one, because secretlint costs more per text than per byte. Each text gets what it would
 * have got alone: when something found reaches over a seam, every text is scanned by itself.
 */
import type { SecretFinding } from "../../ports/secret-scan.ts";
import type { SecretSpan } from "./find-secrets.ts";

type Find = (text: string, fileName: string) => Promise<SecretSpan[]>;

/** Also in front of the first, so that a byte order mark never begins the whole and shifts all positions. */
const seam = "\n\n";

export async function scanBatch(
  texts: readonly string[],
  fileName: string,
  find: Find,
): Promise<SecretFinding[][]> {
  const starts: number[] = [];
  let whole = "";
  for (const text of texts) {
    whole += seam;
    starts.push(whole.length);
    whole += text;
  }
  const spans = await find(whole, fileName);
  const found: SecretFinding[][] = texts.map(() => []);
  spans.sort((a, b) => a.start - b.start || a.end - b.end);
  let at = 0;
  for (const { start, end, what } of spans) {
    while (at + 1 < starts.length && starts[at + 1]! <= start) at += 1;
    const [from, text] = [starts[at]!, texts[at]!];
    const isOverSeam = start < from || end > from + text.length;
    if (isOverSeam && texts.length > 1) {
      return (await Promise.all(texts.map((one) => scanBatch([one], fileName, find)))).flat();
    }
    const line = 1 + countLineFeeds(text, 0, start - from);
    found[at]!.push({ line, endLine: line + countLineFeeds(text, start - from, end - from), what });
  }
  return found.map(withoutRepeats);
}

function countLineFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let i = text.indexOf("\n", Math.max(0, from)); i !== -1 && i < to; i = text.indexOf("\n", i + 1))
    count += 1;
  return count;
}

function withoutRepeats(findings: readonly SecretFinding[]): SecretFinding[] {
  const seen = new Map(findings.map((one) => [`${one.line} ${one.endLine} ${one.what}`, one]));
  return [...seen.values()];
}
