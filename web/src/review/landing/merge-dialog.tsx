import { useState } from "react";
import { isAgentBoxError } from "../../../../src/base/errors.ts";
import type { MergeConflict, MergeMode, MergeRecord } from "../../../../src/contract/review/merge.ts";
import type { Review } from "../../../../src/contract/review/review.ts";
import type { DangerKind } from "../../../../src/contract/review/danger.ts";
import { client } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Checkbox, Field, Select, TextArea } from "../../parts/field.tsx";
import { ErrorNote, Note } from "../../parts/note.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Visible } from "../../parts/visible.tsx";
import { missingChecks } from "./checks.tsx";
import { CommitDangersList } from "../dangers/commit-dangers.tsx";

export interface LandingProps {
  review: Review;
  accepted: ReadonlySet<DangerKind>;
  isOpen: boolean;
  onClose: () => void;
  /** The daemon says that the work is not what was looked at. */
  onOutdated: () => void;
}

const modeWords = {
  squash: "One commit with all of it",
  commits: "The agent's own commits",
  patch: "Changed files only, no commit",
} as const satisfies Record<MergeMode, string>;
const modes = Object.keys(modeWords) as MergeMode[];

/** Whether an error asks for another look at the work. */
export const isOutdatedError = (error: unknown): boolean =>
  isAgentBoxError(error, "merge.danger") && error.facts?.["seen"] !== undefined;

export function MergeDialog({
  review,
  accepted,
  isOpen,
  onClose,
  onOutdated,
  onMerged,
}: LandingProps & { onMerged: (merge: MergeRecord) => void }) {
  const [mode, setMode] = useState<MergeMode>("squash");
  const [message, setMessage] = useState("");
  const [skipsChecks, setSkipsChecks] = useState(false);
  const [isHistorySeen, setHistorySeen] = useState(false);
  const missing = missingChecks(review);
  const history = mode === "commits" ? review.history : [];
  const kinds = history.flatMap((commit) => commit.dangers.map(({ kind }) => kind));
  const merge = useAction(
    () =>
      client
        .mergeWork(review.box, {
          mode,
          accept: [...new Set([...accepted, ...(isHistorySeen ? kinds : [])])],
          digest: review.digest,
          skipsChecks,
          ...(message.trim() === "" ? {} : { message }),
        })
        .catch((error: unknown) => {
          if (isOutdatedError(error)) onOutdated();
          throw error;
        }),
    { onDone: onMerged, isQuiet: true },
  );
  return (
    <Dialog
      title={`Merge the work of ${review.box}`}
      isOpen={isOpen}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            isBusy={merge.isBusy}
            disabled={(missing.length > 0 && !skipsChecks) || (history.length > 0 && !isHistorySeen)}
            onClick={() => merge.run()}
          >
            Merge
          </Button>
        </>
      }
    >
      <div className="parts-stack">
        {merge.error === null ? null : <ErrorNote error={merge.error} />}
        <Conflicts error={merge.error} />
        <Field label="How">
          <Select value={mode} onChange={({ target }) => setMode(target.value as MergeMode)}>
            {modes.map((option) => (
              <option key={option} value={option}>
                {modeWords[option]}
              </option>
            ))}
          </Select>
        </Field>
        {history.length === 0 ? null : (
          <CommitDangersList history={history} isSeen={isHistorySeen} onSeen={setHistorySeen} />
        )}
        {mode === "squash" ? (
          <Field label="Message" hint="Without one: the agent's own words, or its task.">
            <TextArea
              rows={3}
              maxLength={16_384}
              value={message}
              onChange={({ target }) => setMessage(target.value)}
            />
          </Field>
        ) : null}
        {missing.length === 0 ? null : (
          <>
            <Note tone="warn">Checks that have not passed on this state: {missing.join(", ")}.</Note>
            <Checkbox
              label="Merge without them"
              checked={skipsChecks}
              onChange={({ target }) => setSkipsChecks(target.checked)}
            />
          </>
        )}
        <p className="small quiet">
          {review.totals.files} {review.totals.files === 1 ? "file" : "files"}, all of it or nothing. You can
          undo it.
        </p>
      </div>
    </Dialog>
  );
}

/** Both sides of what changed on both. */
export function Conflicts({ error }: { error: unknown }) {
  if (!isAgentBoxError(error, "merge.conflict")) return null;
  const conflicts = (error.facts?.["conflicts"] ?? []) as MergeConflict[];
  return (
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
  );
}
