// A script decides what the model answers, from the conversation alone.
import type { Conversation } from "./conversation.ts";
import { answerSideCall } from "./side-calls.ts";
import type { Fault, Step } from "./step.ts";

/** A list is walked once per prompt, one step for each round of tool calls; the last step repeats. */
export type Script = ((conversation: Conversation) => Step | Promise<Step>) | readonly Step[];

export async function nextStep(script: Script, conversation: Conversation): Promise<Step> {
  if (typeof script === "function") return await script(conversation);
  return script[Math.min(conversation.round, script.length - 1)] ?? {};
}

/** The first `times` requests of any client fail; side calls are left alone. */
export function failFirst(fault: Fault, script: Script, times = 1): Script {
  let left = times;
  return (conversation) => {
    if (answerSideCall(conversation) !== undefined) return nextStep(script, conversation);
    return left-- > 0 ? { fault } : nextStep(script, conversation);
  };
}

/** Every step of another script, with something added: a slow stream, usage numbers, a fault. */
export function withEveryStep(addition: Step, script: Script): Script {
  return async (conversation) => ({ ...(await nextStep(script, conversation)), ...addition });
}
