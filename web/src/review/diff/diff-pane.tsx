import { type ReactNode, useMemo, useState } from "react";
import type { Danger, DangerKind } from "../../../../src/contract/review/danger.ts";
import type { Review } from "../../../../src/contract/review/review.ts";
import { useLooks } from "../use-looks.ts";
import { useKeys } from "../../app/keys.ts";
import { Button } from "../../parts/button.tsx";
import { DangerLane } from "../dangers/danger-lane.tsx";
import { type DiffActions, DiffView } from "./diff-view.tsx";
import { FileList } from "../files/file-list.tsx";
import { filesInOrder, flatLines, treeLines } from "../files/file-tree.ts";
import { rowsOf } from "./rows.ts";
import { useLayout } from "./use-layout.ts";
import { type PatchRange, usePatches } from "./use-patches.ts";
import { useReading } from "./use-reading.ts";
import { useViewed } from "../files/viewed.ts";
import { SearchInput, Switch } from "../../parts/field.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Kbd } from "../../parts/note.tsx";
import { useQuery } from "@tanstack/react-query";
import { omitUndefined } from "../../../../src/base/omit-undefined.ts";
import type { ReviewComment } from "../../../../src/contract/review/comment.ts";
import { client } from "../../api/client.ts";
import { useAction } from "../../parts/use-action.ts";
import type { NewComment } from "../comments/comments.tsx";

const noComments: readonly ReviewComment[] = [];

/** Comments on a box's work: written one by one, sent as one message. */
function useComments(box: string, onSaved: () => void) {
  const key = ["review", box, "comments"];
  const { data = noComments } = useQuery({ queryKey: key, queryFn: () => client.listComments(box) });
  const options = { invalidates: [key] };
  const add = useAction(
    ({ path, line, text }: NewComment) => client.addComment(box, { path, text, ...omitUndefined({ line }) }),
    { ...options, onDone: onSaved },
  );
  const send = useAction(() => client.sendComments(box), {
    ...options,
    done: ({ sent }) => `Sent ${sent} ${sent === 1 ? "comment" : "comments"} to the agent as one message.`,
  });
  const resolve = useAction((comment: ReviewComment) => client.resolveComment(box, comment.id), options);
  return { comments: data, drafts: data.filter(({ state }) => state === "draft").length, add, send, resolve };
}

const keys = [
  ["j / k", "next and previous file"],
  ["↓ / ↑", "next and previous line"],
  ["n / p", "next and previous danger"],
  ["v", "mark the file as viewed, and go to the next one"],
  ["c", "comment on the line, or on the file"],
  ["s", "side by side, or one below the other"],
  ["m", "merge"],
  ["?", "this help"],
] as const;

function ReviewHelp({
  isOpen,
  onClose,
  more = [],
}: {
  isOpen: boolean;
  onClose: () => void;
  more?: readonly (readonly [string, string])[];
}) {
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
      <dl className="review-keys">
        {[...keys, ...more].map(([key, what]) => (
          <div key={key}>
            <dt>
              <Kbd>{key}</Kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

interface DiffToolbarProps {
  filter: string;
  onFilter: (filter: string) => void;
  viewed: number;
  files: number;
  layout: ReturnType<typeof useLayout>;
  onHelp: () => void;
}

/** The shown part of the diff, and its layout. */
function DiffToolbar({ filter, onFilter, viewed, files, layout, onHelp }: DiffToolbarProps) {
  return (
    <div className="parts-row review-bar">
      <SearchInput label="Filter files" value={filter} onChange={({ target }) => onFilter(target.value)} />
      <span className="small quiet" role="status">
        {viewed.toLocaleString("en-US")} of {files.toLocaleString("en-US")} viewed
      </span>
      <Switch
        label="Folders"
        checked={layout.isTree}
        onChange={({ target }) => layout.change({ isTree: target.checked })}
      />
      {layout.isNarrow ? null : (
        <Switch
          label="Side by side"
          checked={layout.isSplit}
          onChange={({ target }) => layout.change({ isSplit: target.checked })}
        />
      )}
      <Button kind="quiet" onClick={onHelp}>
        Keys
      </Button>
    </div>
  );
}

export interface LandingState {
  readonly accepted: ReadonlySet<DangerKind>;
  readonly blocked: string | undefined;
  readonly isMergeOpen: boolean;
  readonly setMergeOpen: (isOpen: boolean) => void;
}

interface DiffPaneProps {
  review: Review;
  range: PatchRange;
  isOutdated: boolean;
  canComment: boolean;
  moreKeys?: readonly (readonly [string, string])[] | undefined;
  landing: (state: LandingState) => ReactNode;
  /** The part between the dangers and the diff. */
  children: ReactNode;
}

const none: ReadonlySet<string> = new Set();

export function DiffPane({
  review,
  range,
  isOutdated,
  canComment,
  moreKeys,
  landing,
  children,
}: DiffPaneProps) {
  const { box, digest, changes, dangers, checkpoint } = review;
  const layout = useLayout();
  const { isViewed, setViewed } = useViewed(box);
  const reading = useReading(() => changes.filter(isViewed).map(({ path }) => path));
  const comments = useComments(box, () => reading.setForm(undefined));
  const [filter, setFilter] = useState("");
  const [closed, setClosed] = useState(none);
  const looks = useLooks(dangers);
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
        form: reading.form,
      }),
    [files, patches, layout.isSplit, reading.folded, comments.comments, reading.form],
  );
  const dangerous = useMemo(() => new Set(dangers.map(({ path }) => path)), [dangers]);

  const view = (change: (typeof changes)[number], viewed: boolean) => {
    setViewed(change, viewed);
    reading.fold(change, viewed);
  };
  const actions = useMemo<DiffActions>(
    () => ({
      canComment,
      load,
      contextOf,
      fold: reading.fold,
      setViewed: view,
      openForm: (place) => reading.setForm(place),
      addComment: (comment) => comments.add.run(comment),
      resolve: (comment) => comments.resolve.run(comment),
    }),
    [canComment, load, contextOf, reading.fold, setViewed],
  );
  const goToDanger = (next: Danger | undefined) => {
    if (next === undefined) return;
    setFilter("");
    setClosed(none);
    setDanger(next);
    reading.go(next.path, next.line);
  };
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
    c: () => canComment && reading.setForm(reading.placeOf(rows)),
    s: () => layout.change({ isSplit: !layout.isSplit }),
    m: () => blocked === undefined && changes.length > 0 && setMergeOpen(true),
    "?": () => setHelpOpen(true),
  });
  return (
    <>
      <DangerLane
        dangers={dangers}
        accepted={accepted}
        current={danger}
        canAccept={range.against === undefined}
        onGo={goToDanger}
        onAccept={looks.setLooked}
      />
      {children}
      <div className="parts-row review-bar">
        {landing({ accepted, blocked, isMergeOpen, setMergeOpen })}
        {comments.drafts === 0 ? null : (
          <Button isBusy={comments.send.isBusy} onClick={() => comments.send.run()}>
            Send {comments.drafts} {comments.drafts === 1 ? "comment" : "comments"}
          </Button>
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
          <div className="review-panes">
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
            <DiffView
              rows={rows}
              actions={actions}
              folded={reading.folded}
              isViewed={isViewed}
              target={reading.target}
              onArrive={reading.arrive}
              cursor={reading.cursor}
              onFileInSight={reading.setCurrent}
              filter={filter}
              onStep={(by) => reading.stepLine(rows, by)}
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
  if (isOutdated) return "It has changed: look again.";
  if (range.from !== undefined || range.to !== undefined || range.against !== undefined)
    return "To land it, look at all of it.";
  const open = new Set(dangers.map(({ kind }) => kind).filter((kind) => !accepted.has(kind)));
  if (open.size === 0) return undefined;
  return `${open.size} ${open.size === 1 ? "kind of danger is" : "kinds of danger are"} not looked at yet.`;
}
