import { useState } from "react";
import { client } from "../api/client.ts";
import { defaultDurationMs } from "../inbox/answer-words.ts";
import { DurationSelect } from "../inbox/question.tsx";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, Select } from "../parts/field.tsx";
import { ErrorNote } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { type AllowChoice, type Target, allowOf, allowSentence, hasRequest } from "./allow.ts";

interface AllowDialogProps {
  readonly name: string;
  readonly target: Target;
  readonly hasProject: boolean;
  readonly onClose: () => void;
}

export function AllowDialog({ name, target, hasProject, onClose }: AllowDialogProps) {
  const [choice, setChoice] = useState<AllowChoice>({
    isWholeHost: !hasRequest(target),
    scope: "box",
    ttlMs: defaultDurationMs,
  });
  const wish = allowOf(target, choice);
  const sentence = allowSentence(name, wish);
  const { run, isBusy, error } = useAction(() => client.allowEgress(name, wish), {
    done: `Allowed. ${sentence}`,
    invalidates: [["box", name]],
    onDone: onClose,
    isQuiet: true,
  });
  return (
    <Dialog
      title="Allow this?"
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => run()}>
            Allow
          </Button>
        </>
      }
    >
      <div className="parts-stack">
        <p className="inbox-sentence">
          <Visible text={sentence} />
        </p>
        {hasRequest(target) ? (
          <Field label="What">
            <Select
              value={choice.isWholeHost ? "host" : "request"}
              onChange={({ target: { value } }) => setChoice({ ...choice, isWholeHost: value === "host" })}
            >
              <option value="request">This request only</option>
              <option value="host">Everything at this host and port</option>
            </Select>
          </Field>
        ) : null}
        <Field label="For whom">
          <Select
            value={choice.scope}
            onChange={({ target: { value } }) =>
              setChoice({ ...choice, scope: value === "project" ? "project" : "box" })
            }
          >
            <option value="box">This box</option>
            {hasProject ? <option value="project">Every box of its project</option> : null}
          </Select>
        </Field>
        <DurationSelect ttlMs={choice.ttlMs} onChange={(ttlMs) => setChoice({ ...choice, ttlMs })} />
        {error ? <ErrorNote error={error} /> : null}
      </div>
    </Dialog>
  );
}
