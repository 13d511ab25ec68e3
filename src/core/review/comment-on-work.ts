/** Remarks of a person on an agent's work: collected, sent as one message, resolved one by one. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { Box } from "../../contract/box.ts";
import type { ReviewComment } from "../../contract/review/comment.ts";
import { sendMessage } from "../agents/talk-to-agent.ts";
import type { LinkParts, StartParts, Using } from "../using.ts";
import { checkpointAndCompare, compareKept } from "./read-review.ts";
import { checkpointsOf } from "./review-of.ts";

/** A comment: a remark, a change of the lines, or both. */
interface CommentText {
  readonly text: string;
  readonly suggestion?: string | undefined;
}

export interface NewComment extends CommentText {
  readonly path: string;
  readonly line?: number | undefined;
  readonly endLine?: number | undefined;
}

export const commentContextLines = 3;
export const maxQuotedLength = 4_096;
const maxFileBytes = 1 << 20;

export async function addComment(
  core: Using<LinkParts | "commit" | "event" | "reviews">,
  name: string,
  wanted: NewComment,
): Promise<ReviewComment> {
  const { path, text, suggestion } = wanted;
  const { line, endLine } = requireRange(wanted);
  requireWords(wanted, line);
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
  const quoted = quote(new TextDecoder().decode(bytes), path, line, endLine);
  return core.locked(`comments:${name}`, async () => {
    const comments = await commentsOf(core, box);
    const comment: ReviewComment = {
      id: (comments.at(-1)?.id ?? 0) + 1,
      box: box.name,
      incarnation: box.incarnation,
      path,
      ...omitUndefined({ line, endLine, suggestion }),
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

function requireRange({ line, endLine }: NewComment): Pick<NewComment, "line" | "endLine"> {
  if (endLine === undefined || endLine === line) return { line };
  if (line !== undefined && endLine > line) return { line, endLine };
  throw new AgentBoxError("input.invalid", "The range of lines ends before it begins.", {
    hint: "Name the first line and then the last one: FILE:12-15",
  });
}

function requireWords({ text, suggestion }: CommentText, line: number | undefined): void {
  if (suggestion !== undefined && line === undefined) {
    throw new AgentBoxError("input.invalid", "A suggestion needs the lines that it replaces.", {
      hint: "Name them: FILE:12 or FILE:12-15",
    });
  }
  if (text.trim() !== "" || suggestion !== undefined) return;
  throw new AgentBoxError("input.invalid", "The comment has no text.", {
    hint: "Write what should be different, or suggest a change.",
  });
}

/** Only a draft can be changed: what the agent was told stays as it was told. */
export const editComment = (
  core: Using<"commit" | "event" | "getBox" | "locked" | "store">,
  name: string,
  id: number,
  { text, suggestion }: CommentText,
): Promise<ReviewComment> =>
  core.locked(`comments:${name}`, async () => {
    const box = await core.getBox(name);
    const { suggestion: _, ...draft } = await requireDraft(core, box, id);
    requireWords({ text, suggestion }, draft.line);
    const edited: ReviewComment = { ...draft, text, ...omitUndefined({ suggestion }) };
    await keep(core, box, [edited], "review.commented");
    return edited;
  });

export const deleteComment = (
  core: Using<"commit" | "event" | "getBox" | "locked" | "store">,
  name: string,
  id: number,
): Promise<void> =>
  core.locked(`comments:${name}`, async () => {
    const box = await core.getBox(name);
    await requireDraft(core, box, id);
    await core.commit({
      dropReview: { incarnation: box.incarnation, kind: "comment", key: String(id) },
      events: [core.event("review.commented", box, { comments: [id] })],
    });
  });

async function requireDraft(core: Using<"store">, box: Box, id: number): Promise<ReviewComment> {
  const comment = await findComment(core, box, id);
  if (comment.state === "draft") return comment;
  throw new AgentBoxError("input.invalid", `Comment ${id} was sent already.`, {
    hint: `Mark it as resolved: agentbox comment ${box.name} --resolve ${id}`,
  });
}

export async function findComment(core: Using<"store">, box: Box, id: number): Promise<ReviewComment> {
  const comment = (await commentsOf(core, box)).find((one) => one.id === id);
  if (comment) return comment;
  throw new AgentBoxError("comment.not_found", `The box "${box.name}" has no comment ${id}.`, {
    hint: `List them: agentbox comment ${box.name}`,
  });
}

export const commentsOf = (core: Using<"store">, { incarnation }: Box): Promise<readonly ReviewComment[]> =>
  core.ports.store.listReview("comment", { incarnation });

/** All drafts as one message, which is the agent's next task. */
/** All drafts as one message, which is the agent's next task. */
export const sendComments = (
  core: Using<StartParts | "getBox">,
  name: string,
): Promise<{ readonly box: Box; readonly sent: number }> =>
  // In turn with edits: a draft is sent as it is, or changed before. Not the lock of checkpoints, which the start of a
  // stopped box would wait for.
  core.locked(`comments:${name}`, async () => {
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
  });

export async function resolveComment(
  core: Using<"commit" | "event" | "getBox" | "store">,
  name: string,
  id: number,
): Promise<ReviewComment> {
  const box = await core.getBox(name);
  const comment = await findComment(core, box, id);
  const resolved: ReviewComment = { ...comment, state: "resolved" };
  await keep(core, box, [resolved], "review.commented");
  return resolved;
}

/** File and lines, the quoted lines, the text, the change: what a reviewer would write. Pure. */
export function messageOf(comments: readonly ReviewComment[]): string {
  const parts = comments.map((comment, index) => {
    const { path, quoted, text, suggestion } = comment;
    const lines = [
      `${index + 1}. ${path}${rangeOf(comment)}`,
      ...quoted.split("\n").map((each) => `> ${each}`),
    ];
    if (text.trim() !== "") lines.push("", ...text.split("\n"));
    if (suggestion !== undefined) lines.push("", ...suggested(comment, suggestion));
    return lines.map((line, at) => (at === 0 || line === "" ? line : `   ${line}`)).join("\n");
  });
  return `Review comments on your work. Please address each of them:\n\n${parts.join("\n\n")}`;
}

const rangeOf = ({ line, endLine }: Pick<ReviewComment, "line" | "endLine">): string =>
  line === undefined ? "" : endLine === undefined ? `:${line}` : `:${line}-${endLine}`;

function suggested({ line, endLine }: ReviewComment, suggestion: string): string[] {
  const which = endLine === undefined ? `line ${line}` : `lines ${line} to ${endLine}`;
  if (suggestion === "") return [`Suggested change: delete ${which}.`];
  // The fence is longer than any in the text, so that the text cannot end it.
  const longest = Math.max(2, ...[...suggestion.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return [`Suggested change: replace ${which} with`, `${fence}suggestion`, ...suggestion.split("\n"), fence];
}

function quote(content: string, path: string, line: number | undefined, endLine = line): string {
  if (line === undefined || endLine === undefined) return "";
  const lines = content.split("\n");
  if (endLine > lines.length) {
    throw new AgentBoxError("input.invalid", `${path} has only ${lines.length} lines.`, {
      hint: "Name a line of the new content.",
    });
  }
  return lines
    .slice(Math.max(0, line - 1 - commentContextLines), endLine)
    .join("\n")
    .slice(0, maxQuotedLength);
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
