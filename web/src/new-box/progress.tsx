import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { ErrorNote } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import type { Making } from "./use-making.ts";

interface ProgressProps {
  readonly making: Exclude<Making, { phase: "idle" }>;
  /** The thing that is being made: a box or a race. */
  readonly noun: "box" | "race";
  readonly onGiveUp: () => void;
  readonly onBack: () => void;
}

/** How far it is, from the steps of an installation or a build and from the log itself. */
export function Progress({ making, noun, onGiveUp, onBack }: ProgressProps) {
  const isWaiting = making.steps.some(({ key }) => key === "install" || key === "build");
  return (
    <section className="parts-card parts-stack" aria-label="Progress">
      <h2>{making.phase === "working" ? `Creating the ${noun}` : `The ${noun} was not created`}</h2>
      <ol className="new-box-steps" aria-live="polite">
        {making.steps.map((step) => (
          <li key={step.key} className={step.isDone ? "new-box-step-done" : ""}>
            <Icon name={step.isDone ? "check" : "chevron"} />
            <span>{step.title}</span>
            {step.detail === undefined ? null : (
              <span className="quiet mono new-box-step-detail">
                <Visible text={step.detail} />
              </span>
            )}
          </li>
        ))}
      </ol>
      {making.phase === "failed" ? <ErrorNote error={making.error} /> : null}
      <div className="parts-row">
        {making.phase === "working" && isWaiting ? <Button onClick={onGiveUp}>Give up</Button> : null}
        {making.phase === "working" ? null : <Button onClick={onBack}>Back to the form</Button>}
      </div>
    </section>
  );
}
