import { useState } from "react";
import { omitUndefined } from "../../../../src/base/omit-undefined.ts";
import type { ReviewComment } from "../../../../src/contract/review/comment.ts";
import { Ago } from "../../parts/amount.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Field, TextArea } from "../../parts/field.tsx";
import { Visible } from "../../parts/visible.tsx";

const maxText = 8_192;

/** Lines of the new content; without them it is about the file. */
export interface CommentRange {
  readonly path: string;
  readonly line?: number | undefined;
  readonly endLine?: number | undefined;
}

export interface CommentText {
  readonly text: string;
  readonly suggestion?: string | undefined;
}

export type NewComment = CommentRange & CommentText;

const rangeWords = ({ line, endLine }: CommentRange): string =>
  line === undefined ? "the file" : endLine === undefined ? `line ${line}` : `lines ${line} to ${endLine}`;

/** A text that is being written; it outlives the form, which is gone while its line is out of sight. */
export interface Unsaved {
  read: () => CommentText | undefined;
  write: (text: CommentText | undefined) => void;
}

interface CommentFormProps {
  range: CommentRange;
  /** The lines as they are, for a suggestion; undefined where not all of them are shown. */
  original: string | undefined;
  first?: CommentText | undefined;
  unsaved?: Unsaved | undefined;
  save: string;
  onSave: (text: CommentText) => void;
  onCancel: () => void;
}

export function CommentForm({ range, original, first, unsaved, save, onSave, onCancel }: CommentFormProps) {
  const [draft, setDraft] = useState<CommentText>(() => unsaved?.read() ?? first ?? { text: "" });
  const { text, suggestion } = draft;
  const change = (next: CommentText) => {
    setDraft(next);
    unsaved?.write(next);
  };
  const isEmpty = text.trim() === "" && suggestion === undefined;
  const isSame = suggestion !== undefined && suggestion === original;
  const keep = () => {
    if (!isEmpty && !isSame) onSave(draft);
  };
  const press = (event: React.KeyboardEvent) => {
    // The text is kept for the next time that the form is opened here.
    if (event.key === "Escape") onCancel();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep();
  };
  return (
    <div className="review-comment">
      <Field label={`Comment on ${rangeWords(range)}`}>
        <TextArea
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user has just chosen to write here
          autoFocus
          rows={3}
          maxLength={maxText}
          value={text}
          onChange={({ target }) => change({ ...draft, text: target.value })}
          onKeyDown={press}
        />
      </Field>
      {suggestion === undefined ? null : (
        <Field
          label={`Suggested change of ${rangeWords(range)}`}
          hint={isSame ? "Change the text first." : "The agent is asked to write this here."}
        >
          <TextArea
            className="mono"
            rows={Math.min(12, suggestion.split("\n").length + 1)}
            maxLength={maxText}
            spellCheck={false}
            value={suggestion}
            onChange={({ target }) => change({ ...draft, suggestion: target.value })}
            onKeyDown={press}
          />
        </Field>
      )}
      <div className="parts-row">
        <Button kind="primary" disabled={isEmpty || isSame} onClick={keep}>
          {save}
        </Button>
        <Button
          onClick={() => {
            unsaved?.write(undefined);
            onCancel();
          }}
        >
          Cancel
        </Button>
        {original === undefined ? null : (
          <Button
            kind="quiet"
            onClick={() => change(suggestion === undefined ? { text, suggestion: original } : { text })}
          >
            {suggestion === undefined ? "Suggest a change" : "Remove the suggestion"}
          </Button>
        )}
        <span className="small quiet">Ctrl+Enter saves. Comments are sent together.</span>
      </div>
    </div>
  );
}

const tones = { draft: "warn", sent: "info", resolved: "good" } as const;
const words = { draft: "not sent yet", sent: "sent", resolved: "resolved" } as const;

export interface CommentActions {
  readonly canComment: boolean;
  readonly resolve: (comment: ReviewComment) => void;
  readonly edit: (comment: ReviewComment, text: CommentText) => void;
  readonly remove: (comment: ReviewComment) => void;
  /** Absent for those who may not change the work. */
  readonly apply?: ((comment: ReviewComment) => void) | undefined;
}

export function CommentNote({
  comment,
  original,
  actions,
}: {
  comment: ReviewComment;
  original: string | undefined;
  actions: CommentActions;
}) {
  const [isEditing, setEditing] = useState(false);
  const { text, suggestion, state, atMs } = comment;
  if (isEditing)
    return (
      <CommentForm
        range={comment}
        original={original ?? suggestion}
        first={{ text, ...omitUndefined({ suggestion }) }}
        save="Save comment"
        onSave={(next) => {
          actions.edit(comment, next);
          setEditing(false);
        }}
        onCancel={() => setEditing(false)}
      />
    );
  return (
    <div className="review-comment" role="note">
      <div className="parts-row small quiet">
        <Badge tone={tones[state]}>{words[state]}</Badge>
        {rangeWords(comment)} · <Ago atMs={atMs} />
        {actions.canComment && state === "draft" ? (
          <>
            <Button kind="quiet" onClick={() => setEditing(true)}>
              Edit
            </Button>
            <Button kind="quiet" onClick={() => actions.remove(comment)}>
              Delete
            </Button>
          </>
        ) : null}
        {actions.canComment && state !== "resolved" ? (
          <Button kind="quiet" onClick={() => actions.resolve(comment)}>
            Resolve
          </Button>
        ) : null}
      </div>
      {text.trim() === "" ? null : (
        <p className="review-comment-text">
          <Visible text={text} />
        </p>
      )}
      {suggestion === undefined ? null : (
        <div className="review-suggestion">
          <span className="small quiet">
            {suggestion === "" ? "Suggested: delete these lines" : "Suggested change"}
          </span>
          {suggestion === "" ? null : (
            <pre className="mono small">
              <Visible text={suggestion} />
            </pre>
          )}
          {actions.apply !== undefined && state !== "resolved" ? (
            <Button onClick={() => actions.apply?.(comment)}>Apply suggestion</Button>
          ) : null}
        </div>
      )}
    </div>
  );
}
