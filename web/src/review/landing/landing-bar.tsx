import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { client } from "../../api/client.ts";
import { useMay, useMayOn } from "../../api/me.ts";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { useToast } from "../../parts/toast.tsx";
import { useSayRemoved } from "../../removal/say-removed.ts";
import { WhatIsLost } from "../../removal/what-is-lost.tsx";
import { useAction } from "../../parts/use-action.ts";
import type { LandingProps } from "./landing-parts.tsx";
import { MergeDialog } from "./merge-dialog.tsx";
import { PushDialog } from "./push-dialog.tsx";

interface LandingBarProps
  extends Pick<LandingProps, "review" | "accepted" | "drafts" | "sendDrafts" | "onOutdated" | "onChecked"> {
  /** Why the work cannot land as it is; undefined when it can. */
  blocked: string | undefined;
  isMergeOpen: boolean;
  setMergeOpen: (isOpen: boolean) => void;
  onMerged: () => void;
  onUndone: () => void;
  /** Another box comes up after a merge, so that the page cannot offer to undo it. */
  isQueue: boolean;
  onDiscarded: () => void;
}

/** Merge, pull request and discard: how work leaves its box, or does not. */
export function LandingBar(props: LandingBarProps) {
  const {
    review,
    accepted,
    blocked,
    isMergeOpen,
    setMergeOpen,
    drafts,
    sendDrafts,
    onOutdated,
    onChecked,
    onMerged,
    onUndone,
    onDiscarded,
    isQueue,
  } = props;
  const { box } = review;
  const toast = useToast();
  const [isPushOpen, setPushOpen] = useState(false);
  const hasScope = useMay("review");
  const isOwn = useMayOn(box, "own");
  const queries = useQueryClient();
  const undo = useAction(() => client.undoMerge({ box }), {
    done: ({ id }) => `Merge ${id} undone.`,
    invalidates: [["review", box], ["boxes"]],
    onDone: onUndone,
  });
  const sayRemoved = useSayRemoved();
  const discard = useAction(() => client.discardWork(box), {
    invalidates: [["boxes"]],
    onDone: ({ removed }) => {
      sayRemoved(`Discarded ${box}.`, [removed]);
      onDiscarded();
    },
  });
  if (!hasScope || !isOwn) return null;
  const hasWork = review.changes.length > 0;
  return (
    <fieldset className="review-actions" aria-label="Landing">
      {blocked === undefined || !hasWork ? null : <output className="small quiet">{blocked}</output>}
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
      <ConfirmButton
        kind="danger"
        isBusy={discard.isBusy}
        question={`Discard ${box}?`}
        details={<WhatIsLost names={[box]} />}
        confirm="Discard"
        onConfirm={() => discard.run()}
      >
        Discard
      </ConfirmButton>
      {isMergeOpen ? (
        <MergeDialog
          review={review}
          accepted={accepted}
          drafts={drafts}
          sendDrafts={sendDrafts}
          onClose={() => setMergeOpen(false)}
          onOutdated={onOutdated}
          onChecked={onChecked}
          onMerged={({ files, branch, mode }) => {
            setMergeOpen(false);
            void queries.invalidateQueries({ queryKey: ["review", box] });
            const where = mode === "patch" ? "your files" : (branch ?? "HEAD").replace(/^refs\/heads\//, "");
            if (isQueue)
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
          drafts={drafts}
          sendDrafts={sendDrafts}
          onClose={() => setPushOpen(false)}
          onOutdated={onOutdated}
          onChecked={onChecked}
        />
      ) : null}
    </fieldset>
  );
}
