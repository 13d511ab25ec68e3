/** A failure that boxd reports, as an error of this program. The box chooses the words, never the meaning. */
import { isErrorCode } from "../../base/error-codes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";

export function streamFailure({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): AgentBoxError {
  // SECURITY: the text is shown to a person; control characters in it could rewrite their terminal.
  return new AgentBoxError(isErrorCode(code) ? code : "box.unreachable", printable(message));
}

/** SECURITY: a message with a thousand faults is described by the first of them; all together are larger than itself. */
export function problemOf({
  issues,
}: {
  readonly issues: readonly { path: PropertyKey[]; message: string }[];
}): string {
  const first = issues[0];
  return first === undefined
    ? "unknown"
    : `${first.path.map(String).join(".")}: ${first.message}`.slice(0, 200);
}
