import { isErrorCode } from "../../base/error-codes.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { StreamOutput } from "../../contract/link/messages.ts";
import type { LinkStream } from "../../ports/link.ts";

type End = Extract<StreamOutput, { type: "end" }>;

/** The words of a box's supervisor about a failure that had no code yet. */
const unknownStream = "There is no stream of kind ";

/** SECURITY: the box chooses the words, never the meaning; control characters could rewrite a person's screen. */
export function failureOf({ code, message }: { code: string; message: string }): AgentBoxError {
  if (code === "box.too_old" || message.startsWith(unknownStream)) {
    return new AgentBoxError("box.too_old", "The box was started by an older AgentBox that cannot do this.", {
      hint: "Restart the box.",
    });
  }
  return new AgentBoxError(isErrorCode(code) ? code : "box.unreachable", printable(message));
}

/** Waits for the end of a stream; what it says before goes to `onMessage`. */
export function streamEnd(
  stream: LinkStream,
  onMessage: (message: StreamOutput) => void = () => undefined,
): Promise<End> {
  return new Promise((resolve, reject) => {
    let end: End | undefined;
    let failure: AgentBoxError | undefined;
    stream.onMessage((message) => {
      if (message.type === "end") end = message;
      else if (message.type === "failed") failure = failureOf(message);
      else onMessage(message);
    });
    stream.onClose((error) => {
      if (end) resolve(end);
      else reject(failure ?? error ?? new AgentBoxError("box.unreachable", "The box broke off."));
    });
  });
}
