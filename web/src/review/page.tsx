import { useNavigate, useParams } from "@tanstack/react-router";
import { ReviewPanel } from "./review-panel.tsx";

/** The review of one box. */
export function ReviewPage() {
  const { name = "" } = useParams({ strict: false });
  const navigate = useNavigate();
  return <ReviewPanel key={name} box={name} onDiscarded={() => void navigate({ to: "/" })} />;
}
