import { omitUndefined } from "../../../src/base/omit-undefined.ts";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ReviewPanel } from "./review-panel.tsx";

/** The review of one box. */
export function ReviewPage() {
  const { name = "" } = useParams({ strict: false });
  const { from, to } = useSearch({ strict: false });
  const navigate = useNavigate();
  return (
    <ReviewPanel
      key={`${name} ${from} ${to}`}
      box={name}
      range={omitUndefined({ from, to })}
      onDiscarded={() => void navigate({ to: "/" })}
    />
  );
}
