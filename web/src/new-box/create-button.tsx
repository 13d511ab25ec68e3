import { useState } from "react";
import type { ManifestCheck } from "../../../src/contract/api/schemas/forms.ts";
import { isRemediable } from "../../../src/contract/plan.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Visible } from "../parts/visible.tsx";
import { mostRunners } from "../../../src/contract/race.ts";
import { type Draft, isRace } from "./draft.ts";

interface CreateButtonProps {
  readonly draft: Draft;
  readonly check: ManifestCheck | undefined;
  readonly isCurrent: boolean;
  readonly needsTrust: boolean;
  readonly isLinked: boolean;
  readonly onCreate: () => void;
  readonly onQueue: () => void;
}

export function CreateButton({
  draft,
  check,
  isCurrent,
  needsTrust,
  isLinked,
  onCreate,
  onQueue,
}: CreateButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const isWrong =
    check === undefined ||
    check.findings.some(({ severity }) => severity === "error") ||
    check.problems.some((problem) => !isRemediable(problem));
  const races = isRace(draft);
  const boxes = (draft.rivals.length + 1) * draft.runs;
  const raceProblem =
    races && draft.task.trim() === ""
      ? "A race needs a task."
      : races && boxes > mostRunners
        ? `A race has at most ${mostRunners} boxes.`
        : undefined;
  const why = needsTrust
    ? "Answer first whether the project gets what it asks for."
    : isWrong && isCurrent
      ? "Fix the problems in the summary first."
      : (raceProblem ?? "");
  return (
    <div className="parts-row new-box-create">
      <Button
        kind="primary"
        disabled={isWrong || needsTrust || !isCurrent || raceProblem !== undefined}
        onClick={() => (isLinked ? setAsking(true) : onCreate())}
      >
        {races ? `Create ${boxes} boxes and race` : draft.starts ? "Create and start" : "Create"}
      </Button>
      {races || isLinked || !draft.starts || draft.task.trim() === "" ? null : (
        <Button disabled={isWrong || needsTrust || !isCurrent} onClick={onQueue}>
          Add to queue
        </Button>
      )}
      <span className="small quiet" aria-live="polite">
        {why}
      </span>
      <Dialog
        title={races ? "Start this race?" : "Create this box?"}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        footer={
          <>
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <Button
              kind="primary"
              onClick={() => {
                setAsking(false);
                onCreate();
              }}
            >
              {races ? "Start the race" : "Create it"}
            </Button>
          </>
        }
      >
        <p>A link filled in this form.</p>
        <dl className="new-box-facts">
          <div>
            <dt>Agent</dt>
            <dd>
              <Visible text={check?.summary?.spec.agent.name ?? ""} />
            </dd>
          </div>
          <div>
            <dt>Directory</dt>
            <dd>
              <Visible text={draft.projectDir === "" ? "none" : draft.projectDir} />
            </dd>
          </div>
          <div>
            <dt>Task</dt>
            <dd>
              <Visible text={draft.task === "" ? "none" : draft.task} />
            </dd>
          </div>
        </dl>
      </Dialog>
    </div>
  );
}
