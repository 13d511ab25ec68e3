import { useState } from "react";
import type { MergeMode, MergeRecord } from "../../../../src/contract/review/merge.ts";
import { client } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Select, TextArea } from "../../parts/field.tsx";
import { ErrorNote } from "../../parts/note.tsx";
import { useAction } from "../../parts/use-action.ts";
import { CommitDangersList } from "../dangers/commit-dangers.tsx";
import { missingChecks } from "./checks.tsx";
import { Conflicts, type LandingProps, MissingChecks, UnsentNote, landing } from "./landing-parts.tsx";

const modeWords = {
  squash: "One commit with all of it",
  commits: "The agent's own commits",
  patch: "Changed files only, no commit",
} as const satisfies Record<MergeMode, string>;
const modes = Object.keys(modeWords) as MergeMode[];

export function MergeDialog(props: LandingProps & { onMerged: (merge: MergeRecord) => void }) {
  const { review, accepted, onClose, onMerged } = props;
  const { box, proposal, totals, digest } = review;
  const [mode, setMode] = useState<MergeMode>("squash");
  const [message, setMessage] = useState(proposal?.message ?? "");
  const [skipsChecks, setSkipsChecks] = useState(false);
  const [isHistorySeen, setHistorySeen] = useState(false);
  const missing = missingChecks(review);
  const runsChecks = missing.length > 0 && !skipsChecks;
  const history = mode === "commits" ? review.history : [];
  const kinds = history.flatMap((commit) => commit.dangers.map(({ kind }) => kind));
  const merge = useAction(
    () =>
      landing(props, runsChecks, () =>
        client.mergeWork(box, {
          mode,
          accept: [...new Set([...accepted, ...(isHistorySeen ? kinds : [])])],
          digest,
          skipsChecks,
          ...(mode !== "squash" || message.trim() === "" ? {} : { message }),
        }),
      ),
    { onDone: onMerged, isQuiet: true },
  );
  const branch = proposal?.branch ?? "your branch";
  return (
    <Dialog
      title={`Merge ${box} into ${branch}`}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            isBusy={merge.isBusy}
            disabled={history.length > 0 && !isHistorySeen}
            onClick={() => merge.run()}
          >
            {runsChecks ? "Run checks, then merge" : "Merge"}
          </Button>
        </>
      }
    >
      <div className="parts-stack">
        {merge.error === null ? null : <ErrorNote error={merge.error} />}
        <Conflicts error={merge.error} box={box} onClose={onClose} />
        <UnsentNote {...props} />
        {mode === "squash" ? (
          <Field label="Message">
            <TextArea
              rows={4}
              maxLength={16_384}
              value={message}
              onChange={({ target }) => setMessage(target.value)}
            />
          </Field>
        ) : null}
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
        <MissingChecks missing={missing} skips={skipsChecks} onSkip={setSkipsChecks} />
        <p className="small quiet">
          {totals.files} {totals.files === 1 ? "file" : "files"}, all of it or nothing. You can undo it.
        </p>
      </div>
    </Dialog>
  );
}
