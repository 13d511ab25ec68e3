import type { NoticeKind } from "../../../src/contract/notices.ts";

export const noticeLabels: Readonly<Record<NoticeKind, string>> = {
  waits: "When an agent waits for you",
  done: "When an agent is done",
  failed: "When something fails",
  budget: "When a budget is used up",
};

/** `(3) AgentBox`: how much needs the person, where the title is all that shows. */
export const titleWith = (title: string, needs: number): string => {
  const plain = title.replace(/^\(\d+\+?\) /, "");
  return needs === 0 ? plain : `(${needs > 99 ? "99+" : needs}) ${plain}`;
};
