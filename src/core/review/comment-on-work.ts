/** Remarks of a person on an agent's work: collected, sent as one message, resolved one by one. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import type { ReviewComment } from "../../contract/review/comment.ts";
import { sendMessage } from "../agents/talk-to-agent.ts";
import type { LinkParts, StartParts, Using } from "../using.ts";
import { checkpointAndCompare, compareKept } from "./read-review.ts";
import { checkpointsOf } from "./review-of.ts";

export interface NewComment {
  readonly path: string;
  readonly line?: number | undefined;
  readonly text: string;
}

const contextLines = 3;
const maxFileBytes = 1 << 20;

export async function addComment(
  core: Using<LinkParts | "commit" | "event" | "reviews">,
  name: string,
  { path, line, text }: NewComment,
): Promise<ReviewComment> {
  const hasLatest = (await checkpointsOf(core, await core.getBox(name))).length > 0;
  const { box, repository, to, checkpoint } = await (hasLatest ? compareKept : checkpointAndCompare)(
    core,
    name,
    {},
  );
  const bytes = await repository.fileAt(to, path, maxFileBytes);
  if (bytes === undefined) {
    throw new AgentBoxError("file.not_found", `The work has no file ${path.slice(0, 200)}.`, {
      hint: `See what has changed: agentbox diff ${name} --stat`,
    });
  }
  const quoted = quote(new TextDecoder().decode(bytes), path, line);
  return core.locked(`review:${name}`, async () => {
    const comments = await commentsOf(core, box);
    const comment: ReviewComment = {
      id: (comments.at(-1)?.id ?? 0) + 1,
      box: box.name,
      incarnation: box.incarnation,
      path,
      ...omitUndefined({ line }),
      text,
      quoted,
      atMs: core.ports.clock.nowMs(),
      state: "draft",
      checkpoint: checkpoint?.number ?? 0,
    };
    await keep(core, box, [comment], "review.commented");
    return comment;
  });
}

export const commentsOf = (core: Using<"store">, { incarnation }: Box): Promise<readonly ReviewComment[]> =>
  core.ports.store.listReview("comment", { incarnation });

/** All drafts as one message, which is the agent's next task. */
export async function sendComments(
  core: Using<StartParts | "getBox">,
  name: string,
): Promise<{ readonly box: Box; readonly sent: number }> {
  const before = await core.getBox(name);
  const drafts = (await commentsOf(core, before)).filter(({ state }) => state === "draft");
  if (drafts.length === 0) {
    throw new AgentBoxError("review.nothing", "There is no comment that has not been sent.", {
      hint: `Write one: agentbox comment ${name} FILE:LINE "…"`,
    });
  }
  const box = await sendMessage(core, name, messageOf(drafts));
  await keep(
    core,
    box,
    drafts.map((draft) => ({ ...draft, state: "sent" })),
    "review.sent",
  );
  return { box, sent: drafts.length };
}

export async function resolveComment(
  core: Using<"commit" | "event" | "getBox" | "store">,
  name: string,
  id: number,
): Promise<ReviewComment> {
  const box = await core.getBox(name);
  const comment = (await commentsOf(core, box)).find((one) => one.id === id);
  if (!comment) {
    throw new AgentBoxError("comment.not_found", `The box "${name}" has no comment ${id}.`, {
      hint: `List them: agentbox comment ${name}`,
    });
  }
  const resolved: ReviewComment = { ...comment, state: "resolved" };
  await keep(core, box, [resolved], "review.commented");
  return resolved;
}

/** File and line, the quoted lines, the text: what a reviewer would write. Pure. */
function messageOf(comments: readonly ReviewComment[]): string {
  const parts = comments.map(({ path, line, quoted, text }, index) =>
    [
      `${index + 1}. ${path}${line === undefined ? "" : `:${line}`}`,
      ...quoted.split("\n").map((each) => `   > ${each}`),
      "",
      `   ${text}`,
    ].join("\n"),
  );
  return `Review comments on your work. Please address each of them:\n\n${parts.join("\n\n")}`;
}

function quote(content: string, path: string, line: number | undefined): string {
  if (line === undefined) return "";
  const lines = content.split("\n");
  if (line > lines.length) {
    throw new AgentBoxError("input.invalid", `${path} has only ${lines.length} lines.`, {
      hint: "Name a line of the new content.",
    });
  }
  return lines
    .slice(Math.max(0, line - 1 - contextLines), line)
    .join("\n")
    .slice(0, 4_096);
}

const keep = (
  core: Using<"commit" | "event">,
  box: Box,
  comments: readonly ReviewComment[],
  type: "review.commented" | "review.sent",
): Promise<void> =>
  core.commit({
    review: comments.map((value) => ({ kind: "comment", key: String(value.id), value })),
    events: [core.event(type, box, { comments: comments.map(({ id }) => id) })],
  });
