/** Notices: what people hear of boxes while they look elsewhere. Free of zod, because the page reads it too. */
import { plainLine } from "../base/printable.ts";
import type { BoxEvent } from "./events.ts";

/** An agent waits for an answer; is done; failed; ran out of budget. */
export const noticeKinds = ["waits", "done", "failed", "budget"] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export const receiverKinds = ["slack", "ntfy", "email"] as const;
export type ReceiverKind = (typeof receiverKinds)[number];

export interface Notice {
  readonly kind: NoticeKind;
  /** One for each event: the same event is never told twice to one receiver. */
  readonly key: string;
  readonly title: string;
  readonly body: string;
  /** Page of the dashboard that a click leads to. */
  readonly path: string;
}

/** An event that was read long after it happened is no news. */
export const newsMs = 120_000;

const maxBody = 160;

/** SECURITY: most of it comes from the box; without control and direction characters, and cut. */
const clean = (value: unknown): string =>
  typeof value === "string" ? plainLine(value.slice(0, 4 * maxBody)).slice(0, maxBody) : "";

export function noticeOf({ id, type, box, data }: BoxEvent): Notice | undefined {
  if (box === undefined) return undefined;
  const say = (kind: NoticeKind, title: string, body: string, page = ""): Notice => ({
    kind,
    key: `event-${id}`,
    title,
    body,
    path: page === "/inbox" ? page : `/box/${encodeURIComponent(box)}${page}`,
  });
  if (type === "approval.asked") {
    const wish = clean(data["secret"]) === "" ? "reach" : `use the secret ${clean(data["secret"])} at`;
    return say("waits", `${box} asks`, `It wants to ${wish} ${clean(data["host"])}.`, "/inbox");
  }
  if (type === "agent.state_changed" && data["to"] === "waiting")
    return say("waits", `${box} waits for you`, "The agent has a question.");
  if (type === "agent.state_changed" && data["to"] === "stuck")
    return say("waits", `${box} is stuck`, "Nothing has happened for a long time.");
  if (type === "budget.exhausted")
    return say("budget", `${box} is out of budget`, "Raise it, and the agent goes on.");
  if (type === "box.failed") return say("failed", `${box} failed`, clean(data["message"]));
  return type === "agent.ended" ? noticeOfEnd(box, data, say) : undefined;
}

/** The change to the state "done" comes with it, so this alone is told. A person has interrupted it, or knows of the budget. */
function noticeOfEnd(
  box: string,
  { verdict, why }: BoxEvent["data"],
  say: (kind: NoticeKind, title: string, body: string, page?: string) => Notice,
): Notice | undefined {
  if (verdict === "interrupted" || verdict === "out_of_budget") return undefined;
  if (verdict === "done") return say("done", `${box} is done`, clean(why), "/review");
  return say("failed", `${box}: ${clean(verdict).replaceAll("_", " ")}`, clean(why));
}
