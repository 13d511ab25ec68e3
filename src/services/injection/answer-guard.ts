/**
 * An answer on its way to the box: no value in its head or body, nothing that would give the box a session of its own,
 * and a packed body only unpacked, because inside it a value could not be seen.
 */
import type { AnswerGuard } from "../../ports/injection.ts";
import { bodyEncoding } from "./body-decoder.ts";
import { maskText } from "./mask.ts";
import { MaskedStream, UnpackedStream } from "./masked-stream.ts";
import { PatternSet } from "./pattern-set.ts";
import { type MaskedValue, valueForms } from "./value-forms.ts";

/**
 * SECURITY: a cookie is a credential made from ours, which the box would then hold; an alternative service would take
 * the next request past the gate.
 */
const notAnswered = new Set(["set-cookie", "set-cookie2", "alt-svc"]);
/** Headers that are no longer true of a body that was unpacked. */
const ofPacked = new Set(["content-encoding", "content-length", "content-md5", "content-digest", "digest"]);

export interface GuardedAnswer {
  /** Read when the answer comes: by then a signature may have been added. */
  readonly values: readonly MaskedValue[];
  readonly method: string;
  /** Whether packed bodies pass as they are: only where the key was never sent, and so cannot come back. */
  readonly mayStayPacked: boolean;
}

export function guardAnswer({ values, method, mayStayPacked }: GuardedAnswer): AnswerGuard {
  let known: PatternSet | undefined;
  const patterns = (): PatternSet => (known ??= new PatternSet(valueForms(values)));
  return {
    open(status, rawHeaders) {
      const encoding = mayStayPacked ? "identity" : bodyEncoding(rawHeaders);
      const isEmpty = method === "HEAD" || status === 204 || status === 304 || status < 200;
      if (encoding === undefined && !isEmpty) return undefined;
      const isUnpacked = encoding !== "identity";
      return {
        headers: maskedHeaders(patterns(), rawHeaders, isUnpacked),
        body:
          encoding === undefined || encoding === "identity" || isEmpty
            ? new MaskedStream(patterns())
            : new UnpackedStream(patterns(), encoding),
      };
    },
    stream: () => new MaskedStream(patterns()),
  };
}

function maskedHeaders(patterns: PatternSet, rawHeaders: readonly string[], isUnpacked: boolean): string[] {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const lower = name.toLowerCase();
    if (notAnswered.has(lower) || (isUnpacked && ofPacked.has(lower))) continue;
    // A star may stand in a name as well.
    headers.push(maskText(patterns, name), maskText(patterns, rawHeaders[i + 1]!));
  }
  return headers;
}
