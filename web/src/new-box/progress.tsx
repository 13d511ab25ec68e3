import { Link } from "@tanstack/react-router";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { ErrorNote, Note } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import type { Making } from "./use-making.ts";

interface ProgressProps {
  readonly making: Exclude<Making, { phase: "idle" }>;
  readonly onGiveUp: () => void;
  readonly onBack: () => void;
}

/** How far the box is, from the steps of an installation or a build and from the log itself. */
export function Progress({ making, onGiveUp, onBack }: ProgressProps) {
  const isWaiting = making.steps.some(({ key }) => key === "install" || key === "build");
  return (
    <section className="parts-card parts-stack" aria-label="Progress">
      <h2>{titles[making.phase]}</h2>
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
      {making.phase === "done" ? <Made making={making} /> : null}
      <div className="parts-row">
        {making.phase === "working" && isWaiting ? <Button onClick={onGiveUp}>Give up</Button> : null}
        {making.phase === "working" ? null : <Button onClick={onBack}>Back to the form</Button>}
      </div>
    </section>
  );
}

const titles = { working: "Making the box", failed: "The box was not made", done: "The box is there" };

function Made({ making }: { making: Extract<Making, { phase: "done" }> }) {
  const { box, warnings, leftBehind } = making.created;
  return (
    <>
      {leftBehind === 0 ? null : (
        <Note>
          {leftBehind} uncommitted {leftBehind === 1 ? "path was" : "paths were"} not carried in.
        </Note>
      )}
      {warnings.map((warning) => (
        <Note key={warning} tone="warn">
          <Visible text={warning} />
        </Note>
      ))}
      <div className="parts-row">
        <Link to="/box/$name" params={{ name: box.name }} className="parts-button parts-button-primary">
          Open {box.name}
        </Link>
        <Link to="/box/$name/terminal" params={{ name: box.name }} className="parts-button">
          Terminal
        </Link>
      </div>
    </>
  );
}
