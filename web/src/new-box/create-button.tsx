import { useState } from "react";
import type { ManifestCheck } from "../../../src/contract/api/schemas/forms.ts";
import { isRemediable } from "../../../src/contract/plan.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Visible } from "../parts/visible.tsx";
import type { Draft } from "./draft.ts";

interface CreateButtonProps {
  readonly draft: Draft;
  readonly check: ManifestCheck | undefined;
  readonly isCurrent: boolean;
  readonly needsTrust: boolean;
  readonly isLinked: boolean;
  readonly onCreate: () => void;
}

export function CreateButton({ draft, check, isCurrent, needsTrust, isLinked, onCreate }: CreateButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const isWrong =
    check === undefined ||
    check.findings.some(({ severity }) => severity === "error") ||
    check.problems.some((problem) => !isRemediable(problem));
  const why = needsTrust
    ? "First say whether the project may have what it asks for."
    : isWrong && isCurrent
      ? "First correct what is wrong; the summary says what."
      : "";
  return (
    <div className="parts-row new-box-create">
      <Button
        kind="primary"
        disabled={isWrong || needsTrust || !isCurrent}
        onClick={() => (isLinked ? setAsking(true) : onCreate())}
      >
        {draft.starts ? "Create and start" : "Create"}
      </Button>
      <span className="small quiet" aria-live="polite">
        {why}
      </span>
      <Dialog
        title="Make this box?"
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
              Make it
            </Button>
          </>
        }
      >
        <p>A link filled this form in, and not you.</p>
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
