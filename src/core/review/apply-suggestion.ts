/**
 * A person puts a suggested change into the work themselves: a change like every other, which the next review judges. The
 * state before it is a checkpoint, so that it can be taken back.
 */
import { AgentBoxError } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import type { ReviewComment } from "../../contract/review/comment.ts";
import { sendFile } from "../files/write-file.ts";
import type { LinkParts, Using } from "../using.ts";
import { takeFrom } from "./checkpoint-over-link.ts";
import { commentContextLines, findComment, maxQuotedLength } from "./comment-on-work.ts";
import { withLink } from "./quiet-box.ts";
import { resolveCheckpoint, reviewOf } from "./review-of.ts";

const maxFileBytes = 1 << 20;

export const applySuggestion = (
  core: Using<LinkParts | "commit" | "event" | "reviews">,
  name: string,
  id: number,
  { by }: { readonly by: string },
): Promise<{ readonly comment: ReviewComment; readonly undo: string }> =>
  core.locked(`comments:${name}`, () =>
    withLink(core, name, async (box, link) => {
      const comment = requireSuggestion(await findComment(core, box, id));
      if (box.run && box.state.phase === "running" && box.run.state === "working") {
        throw new AgentBoxError("agent.busy", `The agent in "${name}" is working.`, {
          hint: `Send it the suggestion (agentbox comment ${name} --send), or stop it first: agentbox interrupt ${name}`,
        });
      }
      const before = await takeFrom(core, box, link, { reason: "restore" });
      const { content, mode } = await fileNow(core, box, comment.path);
      const changed = new TextEncoder().encode(withSuggestion(content, comment));
      // SECURITY: the box writes, below its workspace and through no link; the host opens nothing of it.
      const stream = await link.open({ kind: "files.write", path: "." });
      await sendFile(stream, { path: comment.path, content: changed, mode });
      const after = await takeFrom(core, box, link, { reason: "manual" });
      const resolved: ReviewComment = { ...comment, state: "resolved" };
      const facts = { comment: id, path: comment.path, by, undo: before?.number, checkpoint: after?.number };
      await core.commit({
        review: [{ kind: "comment", key: String(id), value: resolved }],
        events: [core.event("review.applied", box, facts)],
      });
      return { comment: resolved, undo: String(before?.number ?? "base") };
    }),
  );

function requireSuggestion(comment: ReviewComment): ReviewComment {
  const { id, box, suggestion, state } = comment;
  if (suggestion === undefined) {
    throw new AgentBoxError("input.invalid", `Comment ${id} suggests no change.`, {
      hint: `Suggest one: agentbox comment ${box} FILE:LINE --suggest TEXT`,
    });
  }
  if (state !== "resolved") return comment;
  throw new AgentBoxError("input.invalid", `Comment ${id} is resolved already.`, {
    hint: `See what the work is now: agentbox diff ${box}`,
  });
}

async function fileNow(
  core: Using<"reviews" | "storage" | "store">,
  box: Box,
  path: string,
): Promise<{ content: string; mode: number }> {
  const repository = await reviewOf(core, box);
  const { commit } = await resolveCheckpoint(core, box, repository, "latest");
  const entry = await repository.entry(commit, path);
  // SECURITY: a link that the box has put in the place of the file is not written through, nor replaced.
  if (entry?.kind !== "file") throw outdated(path);
  const { bytes, isWhole } = await repository.blob(entry.id, maxFileBytes);
  if (!isWhole) throw new AgentBoxError("input.too_large", `${path} is too large for a suggestion.`);
  try {
    const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { content, mode: entry.isExecutable ? 0o755 : 0o644 };
  } catch {
    throw new AgentBoxError("input.invalid", `${path} is not text.`, { hint: "Change it in the box." });
  }
}

/**
 * The content with the lines replaced, wherever they stand now. Refused where they are not there as they were read, with the
 * lines above them, or are there twice. Pure.
 */
export function withSuggestion(
  content: string,
  { path, line = 1, endLine = line, quoted, suggestion = "" }: ReviewComment,
): string {
  if (quoted.length >= maxQuotedLength) throw outdated(path);
  const lines = content.split("\n");
  const seen = quoted.split("\n");
  const fits = (at: number): boolean => seen.every((text, index) => lines[at + index] === text);
  const own = Math.max(0, line - 1 - commentContextLines);
  const places = fits(own) ? [own] : [...lines.keys()].filter(fits);
  const [first] = places;
  if (first === undefined || places.length > 1) throw outdated(path);
  const count = endLine - line + 1;
  const from = first + seen.length - count;
  const end = lines[from]?.endsWith("\r") === true ? "\r" : "";
  const replaced = suggestion === "" ? [] : suggestion.split("\n").map((text) => `${text}${end}`);
  return lines.toSpliced(from, count, ...replaced).join("\n");
}

const outdated = (path: string): AgentBoxError =>
  new AgentBoxError(
    "comment.outdated",
    `The lines in ${path} are not what they were when this was suggested.`,
    {
      hint: "Look at the file as it is now, and suggest the change anew.",
    },
  );
