import type { CheckResult } from "../../../../src/contract/review/check.ts";
import type { Review } from "../../../../src/contract/review/review.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { formatSpan } from "../../parts/format.ts";

export const missingChecks = ({ requiredChecks, checks }: Review): string[] =>
  requiredChecks.filter((name) => checks.find((check) => check.name === name)?.status !== "passed");

/** The manifest's checks, on exactly this state. */
export function Checks({
  review,
  isRunning,
  canRun,
  onRun,
}: {
  review: Review;
  isRunning: boolean;
  canRun: boolean;
  onRun: () => void;
}) {
  const { requiredChecks, checks } = review;
  if (requiredChecks.length === 0) return null;
  return (
    <section className="review-checks" aria-label="Checks">
      <div className="parts-row">
        <h2>Checks</h2>
        {canRun ? (
          <Button isBusy={isRunning} onClick={onRun}>
            {isRunning ? "Running in a fresh box…" : "Run checks"}
          </Button>
        ) : null}
      </div>
      <ul>
        {requiredChecks.map((name) => (
          <Check key={name} name={name} result={checks.find((check) => check.name === name)} />
        ))}
      </ul>
    </section>
  );
}

function Check({ name, result }: { name: string; result: CheckResult | undefined }) {
  if (result === undefined)
    return (
      <li>
        {name} <Badge>not run on this state</Badge>
      </li>
    );
  const { status, durationMs, output } = result;
  return (
    <li>
      <details open={status !== "passed"}>
        <summary>
          {name}{" "}
          <Badge tone={status === "passed" ? "good" : "bad"}>
            {status.replaceAll("_", " ")} · {formatSpan(durationMs)}
          </Badge>
        </summary>
        {/* The daemon has made what a terminal would act on visible. */}
        <pre className="review-output small">{output === "" ? "No output." : output}</pre>
      </details>
    </li>
  );
}
