/** Routes about an agent's work: checkpoints, review, comments, checks, merge. */
import { z } from "zod";
import { Box, BoxName } from "../box.ts";
import { CheckResult } from "../review/check.ts";
import { Checkpoint, checkpointNamePattern } from "../review/checkpoint.ts";
import { ReviewComment } from "../review/comment.ts";
import { MergeRecord } from "../review/merge.ts";
import { PushRecord } from "../review/push.ts";
import { Review } from "../review/review.ts";
import { PushBody } from "./push-body.ts";
import { type Route, boxAnswer, empty, none } from "./route.ts";
import { MergeBody, PatchFilter, ReviewFilter } from "./schemas.ts";

export const reviewRoutes = {
  listCheckpoints: {
    method: "GET",
    path: "/v1/boxes/{box}/checkpoints",
    summary: "States of the workspace that were kept.",
    response: z.object({ checkpoints: z.array(Checkpoint) }),
  },
  takeCheckpoint: {
    method: "POST",
    path: "/v1/boxes/{box}/checkpoints",
    summary: "Keep the workspace as it is now.",
    body: z.strictObject({ name: z.string().regex(checkpointNamePattern).optional() }),
    response: z.object({ checkpoint: Checkpoint.optional() }),
  },
  restoreCheckpoint: {
    method: "POST",
    path: "/v1/boxes/{box}/restore",
    summary: "Bring the workspace back to a checkpoint; what is there now is kept first.",
    body: z.strictObject({ checkpoint: z.string().max(64) }),
    response: z.object({ checkpoint: Checkpoint.optional() }),
  },
  forkBox: {
    method: "POST",
    path: "/v1/boxes/{box}/fork",
    summary: "Make a new box from a checkpoint of this one.",
    body: z.strictObject({ name: BoxName.optional(), checkpoint: z.string().max(64).optional() }),
    response: boxAnswer,
  },
  getReview: {
    method: "GET",
    path: "/v1/boxes/{box}/review",
    summary: "What the box has changed: dangers first, then every path, comments, checks and a summary.",
    query: ReviewFilter,
    response: Review,
  },
  getPatch: {
    method: "GET",
    path: "/v1/boxes/{box}/patch",
    summary: "The changes as a patch.",
    query: PatchFilter,
    response: none,
    media: "stream",
  },
  noteLook: {
    method: "POST",
    path: "/v1/boxes/{box}/looks",
    summary: "The caller was shown a state: a merge or push of theirs that names none lands this one.",
    body: z.strictObject({
      digest: z.string().max(128).describe("Of the review that was shown."),
      since: z
        .string()
        .max(64)
        .optional()
        .describe("Where the part that was shown begins; base unless told."),
    }),
    response: z.object({ isKept: z.boolean() }),
  },
  listComments: {
    method: "GET",
    path: "/v1/boxes/{box}/comments",
    summary: "Comments on the work.",
    response: z.object({ comments: z.array(ReviewComment) }),
  },
  addComment: {
    method: "POST",
    path: "/v1/boxes/{box}/comments",
    summary: "Write a comment on a line; it is kept until it is sent.",
    body: ReviewComment.pick({ path: true, line: true, text: true }).strict(),
    response: z.object({ comment: ReviewComment }),
  },
  sendComments: {
    method: "POST",
    path: "/v1/boxes/{box}/comments/send",
    summary: "Send all comments that have not been sent to the agent, as one message.",
    body: empty,
    response: z.object({ box: Box, sent: z.int() }),
  },
  resolveComment: {
    method: "POST",
    path: "/v1/boxes/{box}/comments/{comment}/resolve",
    summary: "A comment is dealt with.",
    body: empty,
    response: z.object({ comment: ReviewComment }),
  },
  runChecks: {
    method: "POST",
    path: "/v1/boxes/{box}/checks",
    summary: "Run the manifest's checks on the work, in a fresh box.",
    body: empty,
    response: z.object({ checks: z.array(CheckResult) }),
  },
  mergeWork: {
    method: "POST",
    path: "/v1/boxes/{box}/merge",
    summary: "Land the work in the project's repository: all of it, or nothing.",
    body: MergeBody,
    response: z.object({ merge: MergeRecord }),
  },
  undoMerge: {
    method: "POST",
    path: "/v1/merges/undo",
    summary: "Take the latest merge back, of a box or a project.",
    body: z.strictObject({ box: z.string().max(64).optional(), projectDir: z.string().max(4096).optional() }),
    response: z.object({ merge: MergeRecord }),
  },
  pushWork: {
    method: "POST",
    path: "/v1/boxes/{box}/push",
    summary: "Push the work to a branch of its own at the project's remote, and open a pull request for it.",
    body: PushBody,
    response: z.object({ push: PushRecord }),
  },
  discardWork: {
    method: "POST",
    path: "/v1/boxes/{box}/discard",
    summary: "The work is not wanted: remove the box and all of it.",
    body: empty,
    response: none,
  },
  exportWork: {
    method: "POST",
    path: "/v1/boxes/{box}/export",
    summary: "Write the work to a file of the host, as a patch or a bundle.",
    body: z.strictObject({ format: z.enum(["patch", "bundle"]), file: z.string().max(4096) }),
    response: none,
  },
} as const satisfies Record<string, Route>;
