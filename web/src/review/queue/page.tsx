import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { BoxSummary } from "../../../../src/contract/api/schemas.ts";
import { client } from "../../api/client.ts";
import { boxesQuery } from "../../api/queries.ts";
import { useKeys } from "../../app/keys.ts";
import { StateBadge, boxWord } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty, ErrorNote, Kbd, PageHeader, Skeleton } from "../../parts/note.tsx";
import { useSayRemoved } from "../../removal/say-removed.ts";
import { WhatIsLost } from "../../removal/what-is-lost.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Visible } from "../../parts/visible.tsx";
import { GlanceFacts } from "./glance.tsx";
import { ReviewPanel } from "../review-panel.tsx";
import { SendBack } from "../comments/send-back.tsx";
import { useGlances } from "./use-glances.ts";

/** A box whose agent is at rest; one that works on would change under the reader's eyes. */
const isFinished = (box: BoxSummary): boolean =>
  ["done", "stopped", "failed"].includes(boxWord(box)) && box.phase !== "failed" && box.changedFiles !== 0;

const keys = [
  ["J / K", "next and previous box"],
  ["o", "open the box"],
  ["d", "discard the box"],
  ["b", "send it back with a comment"],
] as const;

/** Finished boxes with something to review, one after the other. */
export function QueuePage() {
  const navigate = useNavigate();
  const { data: boxes, error } = useQuery(boxesQuery);
  const candidates = (boxes ?? []).filter(isFinished).toSorted((a, b) => a.sinceMs - b.sinceMs);
  const glances = useGlances(candidates.map(({ name }) => name));
  const [chosen, setChosen] = useState<string>();
  const [asked, setAsked] = useState<"discard" | "send">();

  const queue = candidates.flatMap((box, index) => {
    const review = glances[index]?.review;
    return review !== undefined && review.changes.length > 0 ? [{ box, review }] : [];
  });
  const pending = glances.filter(
    ({ review, error: failed }) => review === undefined && failed === undefined,
  ).length;
  const at = queue.findIndex(({ box }) => box.name === chosen);
  const current = queue[at === -1 ? 0 : at]?.box.name;
  const step = (by: 1 | -1) => {
    const next = queue[Math.min(Math.max((at === -1 ? 0 : at) + by, 0), queue.length - 1)];
    if (next !== undefined) setChosen(next.box.name);
  };
  /** After this one is dealt with, the next one comes up; the one before when it was the last. */
  const goOn = () => {
    const here = at === -1 ? 0 : at;
    setAsked(undefined);
    setChosen((queue[here + 1] ?? queue[here - 1])?.box.name);
  };
  const sayRemoved = useSayRemoved();
  const discard = useAction((box: string) => client.discardWork(box), {
    invalidates: [["boxes"]],
    onDone: ({ removed }, box) => sayRemoved(`Discarded ${box}.`, [removed]),
  });
  useKeys({
    J: () => step(1),
    K: () => step(-1),
    o: () => current !== undefined && void navigate({ to: "/box/$name/review", params: { name: current } }),
    d: () => current !== undefined && setAsked("discard"),
    b: () => current !== undefined && setAsked("send"),
  });

  return (
    <div className="parts-stack">
      <PageHeader title="Review">
        <p className="quiet">
          <output>
            {queue.length} to review{pending === 0 ? "" : `, looking at ${pending} more`}
          </output>
        </p>
      </PageHeader>
      {error === null ? null : <ErrorNote error={error} />}
      {boxes === undefined && error === null ? <Skeleton height={480} /> : null}
      {boxes !== undefined && queue.length === 0 ? (
        pending > 0 ? (
          <Skeleton height={480} label="Looking at the finished boxes" />
        ) : (
          <Empty title="Nothing to review">
            <p>Boxes appear here when their agent is done or stopped and has changed files.</p>
          </Empty>
        )
      ) : null}
      {current === undefined ? null : (
        <div className="review-queue">
          <div className="parts-stack review-queue-side">
            <ol className="review-queue-list review-queue-list-boxes" aria-label="To review">
              {queue.map(({ box, review }) => (
                <li key={box.name}>
                  <button
                    type="button"
                    className="review-queue-item"
                    aria-current={box.name === current}
                    onClick={() => setChosen(box.name)}
                  >
                    <span className="parts-row">
                      <strong>{box.name}</strong> <StateBadge box={box} />
                    </span>
                    <span className="small quiet">
                      <Visible text={review.agent} />
                    </span>
                    <GlanceFacts review={review} />
                  </button>
                </li>
              ))}
            </ol>
            <div className="parts-row">
              <Button onClick={() => setAsked("send")}>Send back</Button>
            </div>
            <p className="small quiet">
              <Kbd>J</Kbd> <Kbd>K</Kbd> boxes, <Kbd>m</Kbd> merge, <Kbd>d</Kbd> discard, <Kbd>b</Kbd> send
              back, <Kbd>?</Kbd> all keys
            </p>
          </div>
          <section className="review-queue-work" aria-label={`Work of ${current}`}>
            <ReviewPanel key={current} box={current} moreKeys={keys} onMerged={goOn} onDiscarded={goOn} />
          </section>
        </div>
      )}
      {current !== undefined && asked === "discard" ? (
        <Dialog
          title={`Discard ${current}?`}
          isOpen
          onClose={() => setAsked(undefined)}
          footer={
            <>
              <Button onClick={() => setAsked(undefined)}>Cancel</Button>
              <Button
                kind="danger"
                onClick={() => {
                  discard.run(current);
                  goOn();
                }}
              >
                Discard
              </Button>
            </>
          }
        >
          <WhatIsLost names={[current]} />
        </Dialog>
      ) : null}
      {current !== undefined && asked === "send" ? (
        <SendBack box={current} onClose={() => setAsked(undefined)} onSent={goOn} />
      ) : null}
    </div>
  );
}
