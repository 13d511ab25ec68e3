import { type ReactNode, useCallback, useMemo, useRef, useState } from "react";
import type { Danger, DangerKind } from "../../../../src/contract/review/danger.ts";
import type { Review } from "../../../../src/contract/review/review.ts";
import { useKeys } from "../../app/keys.ts";
import { useMay, useMayOn } from "../../api/me.ts";
import { Button } from "../../parts/button.tsx";
import { Visible } from "../../parts/visible.tsx";
import type { CommentRange, CommentText, Unsaved } from "../comments/comments.tsx";
import { useComments } from "../comments/use-comments.ts";
import { useLineDrag } from "../comments/use-line-drag.ts";
import { DangerBar } from "../dangers/danger-bar.tsx";
import { FileList } from "../files/file-list.tsx";
import { filesInOrder, flatLines, treeLines } from "../files/file-tree.ts";
import { useViewed } from "../files/viewed.ts";
import { useLooks } from "../use-looks.ts";
import { DiffToolbar, ReviewHelp } from "./diff-toolbar.tsx";
import { type DiffActions, DiffView } from "./diff-view.tsx";
import { dangerKey, rowsOf } from "./rows.ts";
import { useLayout } from "./use-layout.ts";
import { type PatchRange, usePatches } from "./use-patches.ts";
import { useReading } from "./use-reading.ts";

export interface LandingState {
  readonly accepted: ReadonlySet<DangerKind>;
  readonly blocked: string | undefined;
  readonly isMergeOpen: boolean;
  readonly setMergeOpen: (isOpen: boolean) => void;
  /** Comments that the agent has not been sent, and the way to send them. */
  readonly drafts: number;
  readonly sendDrafts: () => void;
}

interface DiffPaneProps {
  review: Review;
  range: PatchRange;
  isOutdated: boolean;
  canComment: boolean;
  /** Takes a directory that a tool has filled out of the work; absent where it may not be done. */
  onIgnore?: ((directory: string) => void) | undefined;
  isIgnoring?: boolean | undefined;
  moreKeys?: readonly (readonly [string, string])[] | undefined;
  landing: (state: LandingState) => ReactNode;
  /** The part before the bar that stays in sight. */
  children: ReactNode;
}

const none: ReadonlySet<string> = new Set();

/** Texts of forms by the place that they are about, as long as the page is open. */
function useUnsaved(): (target: CommentRange) => Unsaved {
  const texts = useRef(new Map<string, CommentText>());
  return useCallback(({ path, line, endLine }) => {
    const key = JSON.stringify([path, line, endLine]);
    return {
      read: () => texts.current.get(key),
      write: (text) => void (text === undefined ? texts.current.delete(key) : texts.current.set(key, text)),
    };
  }, []);
}

export function DiffPane({
  review,
  range,
  isOutdated,
  canComment,
  onIgnore,
  isIgnoring,
  moreKeys,
  landing,
  children,
}: DiffPaneProps) {
  const { box, digest, changes, dangers, checkpoint } = review;
  const layout = useLayout();
  const { isViewed, setViewed } = useViewed(box);
  const reading = useReading(() => changes.filter(isViewed).map(({ path }) => path));
  const unsaved = useUnsaved();
  const comments = useComments(box, () => {
    if (reading.form !== undefined) unsaved(reading.form).write(undefined);
    reading.setForm(undefined);
  });
  const drag = useLineDrag(reading.setForm);
  const [filter, setFilter] = useState("");
  const [closed, setClosed] = useState(none);
  const mayLand = useMayOn(box, "own");
  const mayReview = useMay("review");
  const mayWork = useMay("work");
  const looks = useLooks(review, mayLand && mayReview);
  const accepted = looks.kinds;
  const [danger, setDanger] = useState<Danger>();
  const [isMergeOpen, setMergeOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);

  // Always two kept states: the box may go on while a person reads.
  const to = range.against === undefined ? (range.to ?? String(checkpoint?.number ?? "latest")) : undefined;
  const kept = useMemo(() => ({ ...range, to }), [range.from, range.against, to]);
  const { patches, load, contextOf } = usePatches(
    box,
    kept,
    `${digest} ${range.from} ${range.against} ${to}`,
  );

  const found = useMemo(() => {
    const wanted = filter.trim().toLowerCase();
    return wanted === "" ? changes : changes.filter(({ path }) => path.toLowerCase().includes(wanted));
  }, [changes, filter]);
  const lines = useMemo(
    () => (layout.isTree ? treeLines(found, closed) : flatLines(found)),
    [found, layout.isTree, closed],
  );
  // A closed folder tidies the list; the diff still has everything.
  const files = useMemo(
    () => (layout.isTree ? filesInOrder(treeLines(found, none)) : found),
    [found, layout.isTree],
  );
  const rows = useMemo(
    () =>
      rowsOf({
        files,
        patches,
        isSplit: layout.isSplit,
        folded: reading.folded,
        comments: comments.comments,
        dangers,
        form: reading.form,
      }),
    [files, patches, layout.isSplit, reading.folded, comments.comments, dangers, reading.form],
  );
  const dangerous = useMemo(() => new Set(dangers.map(({ path }) => path)), [dangers]);

  const view = (change: (typeof changes)[number], viewed: boolean) => {
    setViewed(change, viewed);
    reading.fold(change, viewed);
  };
  const canAccept = range.against === undefined;
  const actions = useMemo<DiffActions>(
    () => ({
      canComment,
      canAccept,
      load,
      contextOf,
      fold: reading.fold,
      setViewed: view,
      openForm: (target) => reading.setForm(target),
      addComment: (comment) => comments.add.run(comment),
      unsaved,
      resolve: (comment) => comments.resolve.run(comment),
      edit: ({ id }, text) => comments.edit.run({ id, ...text }),
      remove: (comment) => comments.remove.run(comment),
      apply: canComment && mayWork ? (comment) => comments.apply.run(comment) : undefined,
      beginLines: drag.beginLines,
      extendLines: drag.extendLines,
      accept: looks.setLooked,
    }),
    [canComment, mayWork, canAccept, looks.setLooked, load, contextOf, reading.fold, setViewed],
  );
  const goToDanger = useCallback(
    (next: Danger | undefined) => {
      if (next === undefined) return;
      setFilter("");
      setClosed(none);
      setDanger(next);
      reading.go(next.path, { line: next.line, key: dangerKey(next, dangers.indexOf(next)) });
    },
    [dangers, reading.go],
  );
  const stepDanger = (by: 1 | -1) => {
    const at = danger === undefined ? (by === 1 ? -1 : 0) : dangers.indexOf(danger);
    goToDanger(dangers.at((at + by + dangers.length) % Math.max(1, dangers.length)));
  };
  const blocked = whyBlocked(review, accepted, range, isOutdated);
  useKeys({
    j: () => reading.stepFile(files, 1),
    k: () => reading.stepFile(files, -1),
    n: () => stepDanger(1),
    p: () => stepDanger(-1),
    v() {
      const change = files.find(({ path }) => path === (reading.current ?? files[0]?.path));
      if (change === undefined) return;
      view(change, !isViewed(change));
      if (!isViewed(change)) reading.stepFile(files, 1);
    },
    c: () => canComment && reading.setForm(reading.lineAt(rows)),
    s: () => layout.change({ isSplit: !layout.isSplit }),
    f: () => layout.change({ isListOpen: !layout.isListOpen }),
    m: () => blocked === undefined && changes.length > 0 && setMergeOpen(true),
    "?": () => setHelpOpen(true),
  });
  return (
    <>
      {children}
      <div className="review-sticky">
        <div className="review-sticky-row">
          <DangerBar
            dangers={dangers}
            accepted={accepted}
            current={danger}
            canAccept={canAccept}
            onGo={goToDanger}
            onStep={stepDanger}
            onAccept={looks.setLooked}
            onIgnore={onIgnore}
            isIgnoring={isIgnoring}
          />
          {comments.drafts === 0 ? null : (
            <Button isBusy={comments.send.isBusy} onClick={() => comments.send.run()}>
              Send {comments.drafts} {comments.drafts === 1 ? "comment" : "comments"}
            </Button>
          )}
          {landing({
            accepted,
            blocked,
            isMergeOpen,
            setMergeOpen,
            drafts: comments.drafts,
            sendDrafts: () => comments.send.run(),
          })}
        </div>
        {changes.length === 0 ? null : (
          <p className="review-here mono small">
            <Visible text={reading.current ?? files[0]?.path ?? ""} />
          </p>
        )}
      </div>
      {changes.length === 0 ? null : (
        <>
          <DiffToolbar
            filter={filter}
            onFilter={setFilter}
            viewed={changes.filter(isViewed).length}
            files={changes.length}
            layout={layout}
            onHelp={() => setHelpOpen(true)}
          />
          <div className={`review-panes ${layout.isListOpen ? "review-panes-list" : ""}`}>
            {layout.isListOpen ? (
              <FileList
                lines={lines}
                current={reading.current ?? files[0]?.path}
                closed={closed}
                dangerous={dangerous}
                isViewed={isViewed}
                onOpen={({ path }) => reading.go(path)}
                onToggle={(folder) =>
                  setClosed(
                    closed.has(folder)
                      ? new Set([...closed].filter((one) => one !== folder))
                      : new Set([...closed, folder]),
                  )
                }
              />
            ) : null}
            <DiffView
              rows={rows}
              actions={actions}
              folded={reading.folded}
              isViewed={isViewed}
              accepted={accepted}
              target={reading.target}
              onArrive={reading.arrive}
              cursor={reading.cursor}
              chosen={drag.dragged ?? reading.form ?? reading.chosen}
              onFileInSight={reading.setCurrent}
              filter={filter}
              onStep={(by, isExtending) => reading.stepLine(rows, by, isExtending)}
            />
          </div>
        </>
      )}
      <ReviewHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} more={moreKeys ?? []} />
    </>
  );
}

/** SECURITY: what lands is all of the work, so all of it must have been on the screen, and each kind of danger seen. */
function whyBlocked(
  { dangers }: Review,
  accepted: ReadonlySet<DangerKind>,
  range: PatchRange,
  isOutdated: boolean,
): string | undefined {
  if (isOutdated) return "The work has changed: refresh to merge";
  if (range.from !== undefined || range.to !== undefined || range.against !== undefined)
    return "Show all changes to merge";
  const open = dangers.filter(({ kind }) => !accepted.has(kind)).length;
  if (open === 0) return undefined;
  return `Review ${open.toLocaleString("en-US")} remaining ${open === 1 ? "danger" : "dangers"} to merge`;
}
