/** Everything a person needs to judge one box's work, and the actions on it. */
import { useState } from "react";
import type { CheckResult } from "../../../src/contract/review/check.ts";
import type { Review } from "../../../src/contract/review/review.ts";
import { client } from "../api/client.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { Button } from "../parts/button.tsx";
import { Empty, ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Checks } from "./landing/checks.tsx";
import { DiffPane } from "./diff/diff-pane.tsx";
import { LandingBar } from "./landing/landing-bar.tsx";
import { MergedNote } from "./landing/merged-note.tsx";
import { RangePicker } from "./range-picker.tsx";
import { TaskNote } from "./task-note.tsx";
import { SessionFacts } from "./session-summary.tsx";
import { type Look, useLook } from "./use-look.ts";
import type { PatchRange } from "./diff/use-patches.ts";

export interface ReviewPanelProps {
  box: string;
  /** The states to begin with. */
  range?: PatchRange | undefined;
  /** Another box it is compared with. */
  against?: string | undefined;
  onMerged?: (() => void) | undefined;
  onDiscarded?: (() => void) | undefined;
  /** Keys of the page around, for the help. */
  moreKeys?: readonly (readonly [string, string])[] | undefined;
}

export function ReviewPanel(props: ReviewPanelProps) {
  const { box, against } = props;
  const [chosen, setRange] = useState<PatchRange>(props.range ?? {});
  const range = against === undefined ? chosen : { against };
  const look = useLook(box, range);
  const { review, error } = look;
  return (
    <div className="review-panel parts-stack">
      {against === undefined ? (
        <div className="parts-row review-range">
          <RangePicker box={box} range={chosen} onChange={setRange} />
          <Button isBusy={look.isLooking} onClick={look.again}>
            Refresh
          </Button>
        </div>
      ) : null}
      {error === null || error === undefined ? null : <ErrorNote error={error} />}
      {look.isOutdated ? (
        <Note tone="warn">
          <output>
            The work has changed since you looked. You see the earlier state, which can no longer be merged.
          </output>
          <span>
            <Button kind="primary" isBusy={look.isLooking} onClick={look.again}>
              Show the latest state
            </Button>
          </span>
        </Note>
      ) : null}
      {review === undefined ? (
        error === null ? (
          <Skeleton height={480} label="Loading the work" />
        ) : null
      ) : (
        <Looked key={review.digest} {...props} review={review} range={range} look={look} />
      )}
    </div>
  );
}

/** One state that was looked at; another one begins anew, with nothing acknowledged. */
function Looked({
  review,
  range,
  look,
  moreKeys,
  onMerged,
  onDiscarded,
}: ReviewPanelProps & { review: Review; range: PatchRange; look: Look }) {
  const { box } = review;
  const hasScope = useMay("review");
  const mayWork = useMayOn(box, "work");
  const onChecked = (results: readonly CheckResult[]) =>
    look.update((now) => ({ ...now, checks: results.filter(({ tree }) => tree === now.checkpoint?.tree) }));
  const ignore = useAction((path: string) => client.ignoreDirectory(box, { path }), {
    done: (_, path) => `${path} is ignored from now on.`,
    onDone: look.again,
  });
  const canWork = hasScope && mayWork && range.to === undefined && range.against === undefined;
  const checks = useAction(() => client.runChecks(box), { onDone: onChecked });
  return (
    <>
      <DiffPane
        review={review}
        range={range}
        isOutdated={look.isOutdated}
        canComment={canWork}
        onIgnore={canWork ? ignore.run : undefined}
        isIgnoring={ignore.isBusy}
        moreKeys={moreKeys}
        landing={(state) => (
          <LandingBar
            {...state}
            review={review}
            onOutdated={look.setOutdated}
            onChecked={onChecked}
            isQueue={onMerged !== undefined}
            onMerged={() => {
              look.again();
              onMerged?.();
            }}
            onUndone={look.again}
            onDiscarded={() => onDiscarded?.()}
          />
        )}
      >
        <MergedNote box={box} onUndone={look.again} />
        <TaskNote box={box} />
        <SessionFacts review={review} />
        <Checks
          review={review}
          canRun={hasScope && mayWork}
          isRunning={checks.isBusy}
          onRun={() => checks.run()}
        />
      </DiffPane>
      {review.changes.length === 0 ? (
        <Empty title="Nothing has changed">
          <p>The files are the same as at the start or the last merge.</p>
        </Empty>
      ) : null}
    </>
  );
}
