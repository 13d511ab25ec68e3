/** An agent's work: checkpoints, review, comments, checks, merge. */
import { z } from "zod";
import { Box, BoxName } from "../../box.ts";
import { CheckResult } from "../../review/check.ts";
import { Checkpoint, checkpointNamePattern } from "../../review/checkpoint.ts";
import { DangerLook } from "../../review/danger-look.ts";
import { ReviewComment } from "../../review/comment.ts";
import { MergeRecord } from "../../review/merge.ts";
import { PushRecord } from "../../review/push.ts";
import { ReviewFilter } from "../schemas.ts";

export const ListCheckpointsAnswer = z.object({ checkpoints: z.array(Checkpoint) });

export const TakeCheckpointBody = z.strictObject({
  name: z.string().regex(checkpointNamePattern).optional(),
});

export const TakeCheckpointAnswer = z.object({ checkpoint: Checkpoint.optional() });

export const RestoreCheckpointBody = z.strictObject({ checkpoint: z.string().max(64) });

export const RestoreCheckpointAnswer = z.object({ checkpoint: Checkpoint.optional() });

export const ForkBoxBody = z.strictObject({
  name: BoxName.optional(),
  checkpoint: z.string().max(64).optional(),
});

export const CheckpointAndReviewBody = ReviewFilter.strict();

export const NoteLookBody = z.strictObject({
  digest: z.string().max(128).describe("Of the review that was shown."),
  since: z.string().max(64).optional().describe("Where the part that was shown begins. Default: base."),
});

export const NoteLookAnswer = z.object({ isKept: z.boolean() });

export const IgnoreDirectoryBody = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(4096)
    .describe("A directory that the review asks about, of the kind `installed`."),
});

export const NoteDangerLookBody = DangerLook.strict();

export const ListCommentsAnswer = z.object({ comments: z.array(ReviewComment) });

export const AddCommentBody = ReviewComment.pick({
  path: true,
  line: true,
  endLine: true,
  text: true,
  suggestion: true,
})
  .strict()
  .describe("A comment on a file, a line or a range of lines, with or without a change of them.");

export const EditCommentBody = ReviewComment.pick({ text: true, suggestion: true }).strict();

export const EditCommentAnswer = z.object({ comment: ReviewComment });

export const AddCommentAnswer = z.object({ comment: ReviewComment });

export const SendCommentsAnswer = z.object({ box: Box, sent: z.int() });

export const ApplySuggestionAnswer = z.object({
  comment: ReviewComment,
  undo: z.string().describe("The checkpoint with the state before it."),
});

export const ResolveCommentAnswer = z.object({ comment: ReviewComment });

export const RunChecksAnswer = z.object({ checks: z.array(CheckResult) });

export const MergeWorkAnswer = z.object({ merge: MergeRecord });

export const UndoMergeBody = z.strictObject({
  box: z.string().max(64).optional(),
  projectDir: z.string().max(4096).optional(),
});

export const UndoMergeAnswer = z.object({ merge: MergeRecord });

export const RebaseWorkAnswer = z.object({
  box: Box,
  commit: z.string().describe("The commit of the project that was brought into the box."),
  branch: z.string().optional(),
  commits: z.int().describe("How many commits the branch has that the box did not."),
  isSent: z.boolean().describe("Whether there is an agent that was told to rebase."),
});

export const PushWorkAnswer = z.object({ push: PushRecord });

export const ExportWorkBody = z.strictObject({
  format: z.enum(["patch", "bundle"]),
  file: z.string().max(4096),
});
