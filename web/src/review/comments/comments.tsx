import { useState } from "react";
import type { ReviewComment } from "../../../../src/contract/review/comment.ts";
import { Ago } from "../../parts/amount.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Field, TextArea } from "../../parts/field.tsx";
import { Visible } from "../../parts/visible.tsx";

const maxText = 8_192;

export interface NewComment {
  readonly path: string;
  readonly line?: number | undefined;
  readonly text: string;
}

export function CommentForm({
  path,
  line,
  onSave,
  onCancel,
}: {
  path: string;
  line?: number | undefined;
  onSave: (comment: NewComment) => void;
  onCancel: () => void;
}) {
  const [text, setText] = useState("");
  const isEmpty = text.trim() === "";
  const save = () => {
    if (!isEmpty) onSave({ path, line, text });
  };
  return (
    <div className="review-comment">
      <Field
        label={line === undefined ? "Comment on the file" : `Comment on line ${line}`}
        hint="It is kept until you send all of them as one message. Ctrl+Enter keeps it, Escape drops it."
      >
        <TextArea
          autoFocus
          rows={3}
          maxLength={maxText}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") onCancel();
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
          }}
        />
      </Field>
      <div className="parts-row">
        <Button kind="primary" disabled={isEmpty} onClick={save}>
          Keep comment
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </div>
  );
}

const tones = { draft: "warn", sent: "info", resolved: "good" } as const;
const words = { draft: "not sent yet", sent: "sent", resolved: "resolved" } as const;

export function CommentNote({
  comment,
  onResolve,
}: {
  comment: ReviewComment;
  onResolve: (comment: ReviewComment) => void;
}) {
  const { line, text, state, atMs } = comment;
  return (
    <div className="review-comment" role="note">
      <div className="parts-row small quiet">
        <Badge tone={tones[state]}>{words[state]}</Badge>
        {line === undefined ? "the file" : `line ${line}`} · <Ago atMs={atMs} />
        {state === "resolved" ? null : (
          <Button kind="quiet" onClick={() => onResolve(comment)}>
            Resolve
          </Button>
        )}
      </div>
      <p className="review-comment-text">
        <Visible text={text} />
      </p>
    </div>
  );
}
