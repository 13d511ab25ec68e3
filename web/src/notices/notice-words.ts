/** Which events a person wants to hear of while looking elsewhere, and in what words. Pure. */
import type { BoxEvent } from "../../../src/contract/events.ts";
import { visible } from "../parts/visible-text.ts";

export type NoticeKind = "needs-you" | "done";

export interface Notice {
  readonly kind: NoticeKind;
  /** One a state change: the same change is never said twice, whoever sees it. */
  readonly key: string;
  readonly title: string;
  readonly body: string;
  /** Where a click leads. */
  readonly path: string;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const maxBody = 160;

/** SECURITY: most of it comes from the box; hidden characters are shown and long texts cut. */
const clean = (value: unknown): string => visible(text(value)).slice(0, maxBody);

export function noticeOf({ id, type, box, data }: BoxEvent): Notice | undefined {
  if (box === undefined) return undefined;
  const say = (kind: NoticeKind, title: string, body: string, path: string): Notice => ({
    kind,
    key: `event-${id}`,
    title,
    body,
    path,
  });
  const boxPath = `/box/${encodeURIComponent(box)}`;
  if (type === "approval.asked") {
    const wish = text(data["secret"]) === "" ? "reach" : `use the secret ${clean(data["secret"])} at`;
    return say("needs-you", `${box} asks`, `It wants to ${wish} ${clean(data["host"])}.`, "/inbox");
  }
  if (type === "agent.state_changed" && data["to"] === "waiting")
    return say("needs-you", `${box} waits for you`, "The agent has a question.", boxPath);
  if (type === "agent.state_changed" && data["to"] === "stuck")
    return say("needs-you", `${box} is stuck`, "Nothing has happened for a long time.", boxPath);
  if (type === "budget.exhausted")
    return say("needs-you", `${box} has used up its budget`, "Raise it, and the agent goes on.", boxPath);
  if (type === "box.failed") return say("needs-you", `${box} failed`, clean(data["message"]), boxPath);
  // The change to the state "done" comes with it, so this alone is said.
  if (type === "agent.ended")
    return data["verdict"] === "done"
      ? say("done", `${box} is done`, clean(data["why"]), `${boxPath}/review`)
      : say(
          "needs-you",
          `${box}: ${clean(data["verdict"]).replaceAll("_", " ")}`,
          clean(data["why"]),
          boxPath,
        );
  return undefined;
}

/** `(3) AgentBox`: how much needs the person, where the title is all that shows. */
export const titleWith = (title: string, needs: number): string => {
  const plain = title.replace(/^\(\d+\+?\) /, "");
  return needs === 0 ? plain : `(${needs > 99 ? "99+" : needs}) ${plain}`;
};
