/** Common parts of the dialogs of a merge and of a pull request. */
import { isAgentBoxError } from "../../../../src/base/errors.ts";
import type { CheckResult } from "../../../../src/contract/review/check.ts";
import type { DangerKind } from "../../../../src/contract/review/danger.ts";
import type { MergeConflict } from "../../../../src/contract/review/merge.ts";
import type { Review } from "../../../../src/contract/review/review.ts";
import { client } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Checkbox } from "../../parts/field.tsx";
import { Note } from "../../parts/note.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Visible } from "../../parts/visible.tsx";

export interface LandingProps {
  review: Review;
  accepted: ReadonlySet<DangerKind>;
  /** Comments that the agent has not been sent. */
  drafts: number;
  sendDrafts: () => void;
  onClose: () => void;
  /** The daemon says that the work is not the state that was shown. */
  onOutdated: () => void;
  onChecked: (checks: readonly CheckResult[]) => void;
}

/** Whether an error asks the person to look again. */
const isOutdatedError = (error: unknown): boolean =>
  isAgentBoxError(error, "merge.danger") && error.facts?.["seen"] !== undefined;

/** Lands the work, after its checks where they were asked for. The daemon decides whether they have passed. */
export async function landing<T>(
  { review, onChecked, onOutdated }: Pick<LandingProps, "review" | "onChecked" | "onOutdated">,
  runsChecks: boolean,
  land: () => Promise<T>,
): Promise<T> {
  if (runsChecks) onChecked(await client.runChecks(review.box));
  try {
    return await land();
  } catch (error) {
    if (isOutdatedError(error)) onOutdated();
    throw error;
  }
}

/** Comments that would be forgotten once the work has landed. */
export function UnsentNote({
  drafts,
  sendDrafts,
  onClose,
}: Pick<LandingProps, "drafts" | "sendDrafts" | "onClose">) {
  if (drafts === 0) return null;
  return (
    <Note tone="warn">
      <span>{drafts === 1 ? "1 comment was" : `${drafts} comments were`} not sent to the agent.</span>
      <span>
        <Button
          onClick={() => {
            sendDrafts();
            onClose();
          }}
        >
          Send {drafts === 1 ? "it" : "them"} instead
        </Button>
      </span>
    </Note>
  );
}

export function MissingChecks({
  missing,
  skips,
  onSkip,
}: {
  missing: readonly string[];
  skips: boolean;
  onSkip: (skips: boolean) => void;
}) {
  if (missing.length === 0) return null;
  return (
    <>
      <Note tone="warn">Checks that have not passed on this state: {missing.join(", ")}.</Note>
      <Checkbox
        label="Go on without them"
        checked={skips}
        onChange={({ target }) => onSkip(target.checked)}
      />
    </>
  );
}

/** Both sides of each conflict, and the way out: the agent takes its work to the newest state of the branch. */
export function Conflicts({ error, box, onClose }: { error: unknown; box: string; onClose: () => void }) {
  const rebase = useAction(() => client.rebaseWork(box), {
    done: ({ branch, commits, isSent }) =>
      isSent
        ? `The agent rebases onto ${branch ?? "your branch"}: ${commits} new ${commits === 1 ? "commit" : "commits"}.`
        : `${commits} new ${commits === 1 ? "commit is" : "commits are"} in the box, as refs/agentbox/upstream.`,
    invalidates: [["boxes"], ["box", box]],
    onDone: onClose,
  });
  if (!isAgentBoxError(error, "merge.conflict")) return null;
  const conflicts = (error.facts?.["conflicts"] ?? []) as MergeConflict[];
  return (
    <section className="parts-stack" aria-label="Conflicts">
      <ul className="review-conflicts">
        {conflicts.map(({ path, what, ours, theirs }) => (
          <li key={path}>
            <strong className="mono">
              <Visible text={path} />
            </strong>
            : <Visible text={what} />
            {ours === undefined && theirs === undefined ? null : (
              <details>
                <summary>Both sides</summary>
                <h3>Yours</h3>
                <pre className="review-output small">
                  <Visible text={ours ?? ""} />
                </pre>
                <h3>The agent's</h3>
                <pre className="review-output small">
                  <Visible text={theirs ?? ""} />
                </pre>
              </details>
            )}
          </li>
        ))}
      </ul>
      <div className="parts-row">
        <Button kind="primary" isBusy={rebase.isBusy} onClick={() => rebase.run()}>
          Let the agent rebase
        </Button>
        <span className="small quiet">
          Your branch goes into the box, and the agent is told what has changed. Then review again.
        </span>
      </div>
    </section>
  );
}
