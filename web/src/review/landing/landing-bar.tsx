import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { client } from "../../api/client.ts";
import { useMay, useMayOn } from "../../api/me.ts";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { useToast } from "../../parts/toast.tsx";
import { useAction } from "../../parts/use-action.ts";
import { MergeDialog, type LandingProps } from "./merge-dialog.tsx";
import { PushDialog } from "./push-dialog.tsx";
import { useQuery } from "@tanstack/react-query";

/** The latest merge of a box that has not been taken back, as the log tells it. */
const useLastMerge = (box: string): number | undefined =>
  useQuery({
    queryKey: ["review", box, "merge"],
    queryFn: async () => {
      const newest = { limit: 100, order: "newest" } as const;
      const [merged, undone] = await Promise.all([
        client.listEvents({ box, type: "work.merged", ...newest }),
        client.listEvents({ type: "work.undone", ...newest }),
      ]);
      const back = new Set(undone.events.map(({ data }) => data["merge"]));
      const last = merged.events.find(({ data }) => !back.has(data["merge"]));
      return typeof last?.data["merge"] === "number" ? last.data["merge"] : null;
    },
  }).data ?? undefined;

interface LandingBarProps extends Pick<LandingProps, "review" | "accepted" | "onOutdated"> {
  /** Why the work cannot land as it is; undefined when it can. */
  blocked: string | undefined;
  isMergeOpen: boolean;
  setMergeOpen: (isOpen: boolean) => void;
  onMerged: () => void;
  onUndone: () => void;
  onDiscarded: () => void;
}

/** Merge, pull request, discard, and undo: how work leaves its box, or does not. */
export function LandingBar(props: LandingBarProps) {
  const {
    review,
    accepted,
    blocked,
    isMergeOpen,
    setMergeOpen,
    onOutdated,
    onMerged,
    onUndone,
    onDiscarded,
  } = props;
  const { box } = review;
  const toast = useToast();
  const [isPushOpen, setPushOpen] = useState(false);
  const hasScope = useMay("review");
  const isOwn = useMayOn(box, "own");
  const lastMerge = useLastMerge(box);
  const undo = useAction(() => client.undoMerge({ box }), {
    done: ({ id }) => `Took back merge ${id}.`,
    invalidates: [["review", box], ["boxes"]],
    onDone: onUndone,
  });
  const discard = useAction(() => client.discardWork(box), {
    done: `Discarded ${box}.`,
    invalidates: [["boxes"]],
    onDone: onDiscarded,
  });
  if (!hasScope || !isOwn) return null;
  const hasWork = review.changes.length > 0;
  return (
    <div className="review-actions" role="group" aria-label="Landing">
      {blocked === undefined || !hasWork ? null : (
        <span className="small quiet" role="status">
          {blocked}
        </span>
      )}
      {hasWork ? (
        <>
          <Button kind="primary" disabled={blocked !== undefined} onClick={() => setMergeOpen(true)}>
            Merge
          </Button>
          <Button disabled={blocked !== undefined} onClick={() => setPushOpen(true)}>
            Pull request
          </Button>
        </>
      ) : null}
      {lastMerge === undefined ? null : (
        <Button isBusy={undo.isBusy} onClick={() => undo.run()}>
          Undo merge
        </Button>
      )}
      <ConfirmButton
        kind="danger"
        isBusy={discard.isBusy}
        question={`Discard ${box}?`}
        details={<p>The box and everything in it are removed. This cannot be taken back.</p>}
        confirm="Discard"
        onConfirm={() => discard.run()}
      >
        Discard
      </ConfirmButton>
      {isMergeOpen ? (
        <MergeDialog
          review={review}
          accepted={accepted}
          isOpen
          onClose={() => setMergeOpen(false)}
          onOutdated={onOutdated}
          onMerged={({ files, branch, mode }) => {
            setMergeOpen(false);
            const where = mode === "patch" ? "your files" : (branch ?? "HEAD").replace(/^refs\/heads\//, "");
            toast(`Merged ${files} ${files === 1 ? "file" : "files"} of ${box} into ${where}.`, "good", {
              label: "Undo",
              run: () => undo.run(),
            });
            onMerged();
          }}
        />
      ) : null}
      {isPushOpen ? (
        <PushDialog
          review={review}
          accepted={accepted}
          isOpen
          onClose={() => setPushOpen(false)}
          onOutdated={onOutdated}
        />
      ) : null}
    </div>
  );
}
