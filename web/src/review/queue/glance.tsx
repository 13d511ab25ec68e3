import type { Review } from "../../../../src/contract/review/review.ts";
import { Badge } from "../../parts/badge.tsx";
import { Lines } from "../diff/diff-rows.tsx";

/** Size, dangers and checks of a box's work, in one line. */
export function GlanceFacts({ review }: { review: Review }) {
  const { totals, dangers, checks, requiredChecks, comments } = review;
  const passed = checks.filter(({ status }) => status === "passed").length;
  const drafts = comments.filter(({ state }) => state === "draft").length;
  return (
    <span className="parts-row small">
      <span>
        {totals.files.toLocaleString("en-US")} {totals.files === 1 ? "file" : "files"}
      </span>
      <Lines added={totals.added} deleted={totals.deleted} />
      {dangers.length === 0 ? null : (
        <Badge tone="warn">
          {dangers.length} {dangers.length === 1 ? "danger" : "dangers"}
        </Badge>
      )}
      {requiredChecks.length === 0 ? null : (
        <Badge tone={passed === requiredChecks.length ? "good" : "plain"}>
          checks {passed}/{requiredChecks.length}
        </Badge>
      )}
      {drafts === 0 ? null : <Badge tone="info">{drafts} not sent</Badge>}
    </span>
  );
}
