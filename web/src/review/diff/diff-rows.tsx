/** How each kind of row looks. */
import { memo } from "react";
import type { Change } from "../../../../src/contract/review/change.ts";
import { useHighlighter } from "../../code/use-highlighter.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Checkbox } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ErrorNote } from "../../parts/note.tsx";
import { Visible } from "../../parts/visible.tsx";
import { CodeLine } from "./code-line.tsx";
import { CommentForm, CommentNote } from "../comments/comments.tsx";
import { DangerNote } from "../dangers/danger-bar.tsx";
import type { DiffActions } from "./diff-view.tsx";
import type { Hunk, PatchLine } from "./patch.ts";
import type { LineRow, PairRow, Row } from "./rows.ts";
import { changedSpans } from "./words.ts";
import type { Highlighter, Token } from "../../code/colours.ts";

/** Colours of the lines of a hunk: each side is read as a whole, because a comment may begin lines before. */
const longestText = 200_000;
const longestLine = 5_000;

const kept = new WeakMap<Hunk, Map<PatchLine, readonly Token[]>>();
const none = new Map<PatchLine, readonly Token[]>();

function tokensOf(
  highlight: Highlighter | undefined,
  hunk: Hunk,
  line: PatchLine,
): readonly Token[] | undefined {
  if (highlight === undefined) return undefined;
  let tokens = kept.get(hunk);
  if (tokens === undefined) {
    tokens = colour(highlight, hunk);
    kept.set(hunk, tokens);
  }
  return tokens.get(line);
}

function colour(highlight: Highlighter, { lines }: Hunk): Map<PatchLine, readonly Token[]> {
  const length = lines.reduce((sum, { text }) => sum + text.length, 0);
  // Grammars are slow on what no person has written.
  if (length > longestText || lines.some(({ text }) => text.length > longestLine)) return none;
  const tokens = new Map<PatchLine, readonly Token[]>();
  for (const absent of ["added", "deleted"] as const) {
    const side = lines.filter(({ kind }) => kind !== absent);
    const found = highlight(side.map(({ text }) => text).join("\n"));
    for (const [index, line] of side.entries()) tokens.set(line, found[index] ?? []);
  }
  return tokens;
}

interface RowProps {
  row: Row;
  actions: DiffActions;
  isFolded: boolean;
  isViewed: boolean;
  isAtCursor: boolean;
  /** One of the lines that a comment is being written on. */
  isChosen: boolean;
  /** Of a danger: its kind was looked at. */
  isAccepted: boolean;
}

export const DiffRow = memo(function DiffRow({
  row,
  actions,
  isFolded,
  isViewed,
  isAtCursor,
  isChosen,
  isAccepted,
}: RowProps) {
  switch (row.type) {
    case "file":
      return <FileHead change={row.change} actions={actions} isFolded={isFolded} isViewed={isViewed} />;
    case "wait":
      return (
        <Waiting change={row.change} isLarge={row.isLarge} isLoading={row.isLoading} actions={actions} />
      );
    case "note":
      return (
        <p className="review-note small quiet">
          <Visible text={row.text} />
        </p>
      );
    case "error":
      return <ErrorNote error={row.error} />;
    case "hunk":
      return <HunkHead change={row.change} hunk={row.hunk} actions={actions} />;
    case "line":
      return <UnifiedLine row={row} actions={actions} isAtCursor={isAtCursor} isChosen={isChosen} />;
    case "pair":
      return <SplitLine row={row} actions={actions} isAtCursor={isAtCursor} isChosen={isChosen} />;
    case "danger":
      return (
        <DangerNote
          danger={row.danger}
          count={row.count}
          isAccepted={isAccepted}
          isCurrent={isAtCursor}
          canAccept={actions.canAccept}
          onAccept={actions.accept}
        />
      );
    case "comment":
      return <CommentNote comment={row.comment} original={row.original} actions={actions} />;
    case "form":
      return (
        <CommentForm
          key={row.key}
          range={row.range}
          original={row.original}
          unsaved={actions.unsaved(row.range)}
          save="Add comment"
          onSave={(text) => actions.addComment({ ...row.range, ...text })}
          onCancel={() => actions.openForm(undefined)}
        />
      );
    default:
      return row satisfies never;
  }
});

const kindWords: Readonly<Record<Change["kind"], string>> = {
  added: "new",
  modified: "changed",
  deleted: "deleted",
  renamed: "renamed",
  copied: "copied",
  type_changed: "other kind",
};

function FileHead({
  change,
  actions,
  isFolded,
  isViewed,
}: { change: Change } & Pick<RowProps, "actions" | "isFolded" | "isViewed">) {
  const { path, oldPath, kind, added, deleted, newMode } = change;
  return (
    <div className="review-file-head">
      <button
        type="button"
        className="review-fold"
        aria-expanded={!isFolded}
        onClick={() => actions.fold(change, !isFolded)}
      >
        <Icon name="chevron" />
        <span className="mono">
          {oldPath === undefined ? null : (
            <span className="quiet">
              <Visible text={oldPath} /> →{" "}
            </span>
          )}
          <Visible text={path} />
        </span>
      </button>
      <span className="review-file-facts">
        <Badge tone={kind === "deleted" ? "bad" : kind === "added" ? "good" : "plain"}>
          {kindWords[kind]}
        </Badge>
        {newMode === "120000" ? <Badge tone="warn">link</Badge> : null}
        {newMode === "160000" ? <Badge tone="warn">submodule</Badge> : null}
        <Lines added={added} deleted={deleted} />
        {actions.canComment ? (
          <Button kind="quiet" onClick={() => actions.openForm({ path })}>
            Comment
          </Button>
        ) : null}
        <Checkbox
          label="Viewed"
          checked={isViewed}
          onChange={({ target }) => actions.setViewed(change, target.checked)}
        />
      </span>
    </div>
  );
}

export const Lines = ({ added, deleted }: { added: number; deleted: number }) => (
  <span className="review-counts mono small">
    <span className="review-plus">+{added}</span> <span className="review-minus">−{deleted}</span>
  </span>
);

function Waiting({
  change,
  isLarge,
  isLoading,
  actions,
}: {
  change: Change;
  isLarge: boolean;
  isLoading: boolean;
  actions: DiffActions;
}) {
  if (!isLarge || isLoading) return <output className="review-waiting quiet small">Loading…</output>;
  return (
    <div className="review-waiting">
      <Button onClick={() => actions.load(change)}>
        Show {(change.added + change.deleted).toLocaleString("en-US")} changed lines
      </Button>
    </div>
  );
}

const contexts = [25, 200, 1_000];

function HunkHead({ change, hunk, actions }: { change: Change; hunk: Hunk; actions: DiffActions }) {
  const next = contexts.find((context) => context > actions.contextOf(change));
  return (
    <div className="review-hunk mono small">
      <span>
        @@ −{hunk.oldStart} +{hunk.newStart} @@ <Visible text={hunk.heading.slice(0, 200)} />
      </span>
      {next === undefined || change.kind === "added" || change.kind === "deleted" ? null : (
        <button type="button" className="review-more" onClick={() => actions.load(change, next)}>
          More lines around
        </button>
      )}
    </div>
  );
}

const marks = { added: "+", deleted: "−", context: " " } as const;

function LineNumber({
  line,
  change,
  actions,
}: {
  line: number | undefined;
  change: Change;
  actions: DiffActions;
}) {
  if (line === undefined) return <span className="review-number" />;
  if (!actions.canComment) return <span className="review-number">{line}</span>;
  // Tab would stop at each of them; the arrow keys and "c" do the same.
  return (
    <button
      type="button"
      tabIndex={-1}
      className="review-number review-number-button"
      aria-label={`Comment on line ${line}`}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        actions.beginLines(change.path, line);
      }}
      onClick={({ detail }) => {
        // A press by a program that reads the page; the release of a pointer opens the form by itself.
        if (detail === 0) actions.openForm({ path: change.path, line });
      }}
    >
      {line}
    </button>
  );
}

interface LineProps<R> {
  row: R;
  actions: DiffActions;
  isAtCursor: boolean;
  isChosen: boolean;
}

const lineNames = (name: string, isAtCursor: boolean, isChosen: boolean): string =>
  [name, isAtCursor && "review-cursor", isChosen && "review-chosen"].filter(Boolean).join(" ");

const extending =
  (actions: DiffActions, { path }: Change, line: PatchLine | undefined) =>
  () => {
    if (line?.newLine !== undefined) actions.extendLines(path, line.newLine);
  };

function UnifiedLine({ row, actions, isAtCursor, isChosen }: LineProps<LineRow>) {
  const { line, other, hunk, change } = row;
  const highlight = useHighlighter(change.path);
  const spans = other === undefined ? undefined : spansOf(line, other);
  return (
    <div
      className={lineNames(`review-line review-${line.kind}`, isAtCursor, isChosen)}
      data-line={line.newLine}
      onPointerEnter={extending(actions, change, line)}
    >
      <span className="review-number">{line.oldLine}</span>
      <LineNumber line={line.newLine} change={change} actions={actions} />
      <span className="review-sign">{marks[line.kind]}</span>
      <CodeLine
        text={line.text}
        tokens={tokensOf(highlight, hunk, line)}
        changed={spans}
        hasNoNewline={line.hasNoNewline}
      />
    </div>
  );
}

const spansOf = (line: PatchLine, other: PatchLine) =>
  line.kind === "deleted"
    ? changedSpans(line.text, other.text)?.before
    : changedSpans(other.text, line.text)?.after;

function SplitLine({ row, actions, isAtCursor, isChosen }: LineProps<PairRow>) {
  const { left, right, hunk, change } = row;
  const highlight = useHighlighter(change.path);
  const isChange = left !== undefined && right !== undefined && left !== right;
  const spans = isChange ? changedSpans(left.text, right.text) : undefined;
  const side = (line: PatchLine | undefined, changed: ReturnType<typeof spansOf>) =>
    line === undefined ? null : (
      <CodeLine
        text={line.text}
        tokens={tokensOf(highlight, hunk, line)}
        changed={changed}
        hasNoNewline={line.hasNoNewline}
      />
    );
  return (
    <div
      className={lineNames("review-pair", isAtCursor, isChosen)}
      data-line={right?.newLine}
      onPointerEnter={extending(actions, change, right)}
    >
      <div className={`review-half review-${left?.kind ?? "absent"}`}>
        <span className="review-number">{left?.oldLine}</span>
        {side(left, spans?.before)}
      </div>
      <div className={`review-half review-${right?.kind ?? "absent"}`}>
        <LineNumber line={right?.newLine} change={change} actions={actions} />
        {side(right, spans?.after)}
      </div>
    </div>
  );
}
