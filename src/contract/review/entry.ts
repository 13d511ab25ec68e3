import type { CheckResult } from "./check.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { ReviewComment } from "./comment.ts";
import type { DangerMarks } from "./danger-look.ts";
import type { Look } from "./look.ts";
import type { MergeRecord } from "./merge.ts";
import type { PushRecord } from "./push.ts";
import type { RemovedRecord } from "./removed.ts";
import type { UpstreamRecord } from "./upstream.ts";

/** A check's result, with the box it was made for. */
export interface BoxCheck extends CheckResult {
  readonly box: string;
  readonly incarnation: string;
}

/**
 * The records about reviews, by kind. Merges outlive their boxes, because they can be undone, and so does `removed`, by
 * which a box can be brought back.
 */
export interface ReviewKinds {
  readonly checkpoint: Checkpoint;
  readonly comment: ReviewComment;
  readonly check: BoxCheck;
  readonly look: Look;
  readonly marks: DangerMarks;
  readonly merge: MergeRecord;
  readonly push: PushRecord;
  readonly removed: RemovedRecord;
  readonly upstream: UpstreamRecord;
}
export type ReviewKind = keyof ReviewKinds;

export type ReviewEntry = {
  [K in ReviewKind]: { readonly kind: K; readonly key: string; readonly value: ReviewKinds[K] };
}[ReviewKind];

/** Kinds that stay when their box is removed. */
export const lastingKinds: readonly ReviewKind[] = ["merge", "removed"];
