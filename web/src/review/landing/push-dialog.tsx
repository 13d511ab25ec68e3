import { useState } from "react";
import type { PushRecord } from "../../../../src/contract/review/push.ts";
import { client } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { ConfirmLink } from "../../parts/confirm-link.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Checkbox, Field, TextArea, TextInput } from "../../parts/field.tsx";
import { ErrorNote, Note } from "../../parts/note.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Visible } from "../../parts/visible.tsx";
import { missingChecks } from "./checks.tsx";
import { Conflicts, type LandingProps, isOutdatedError } from "./merge-dialog.tsx";

const texts = { title: "", body: "", base: "", branch: "", remote: "", secret: "" };
type Texts = typeof texts;

const fields: readonly { name: keyof Texts; label: string; hint: string }[] = [
  { name: "title", label: "Title", hint: "Default: the agent's words." },
  { name: "base", label: "For the branch", hint: "Default: the remote's default branch." },
  { name: "branch", label: "Branch to push", hint: "Default: agentbox/BOX." },
  { name: "remote", label: "Remote", hint: "Default: origin." },
  { name: "secret", label: "Secret of the vault", hint: "Default: chosen by the host of the remote." },
];

/** Pushes the work to a branch of its own and opens a pull request; nothing of a credential is in the box or here. */
export function PushDialog({ review, accepted, isOpen, onClose, onOutdated }: LandingProps) {
  const [given, setGiven] = useState<Texts>(texts);
  const [isDraft, setDraft] = useState(false);
  const [isPushOnly, setPushOnly] = useState(false);
  const [skipsChecks, setSkipsChecks] = useState(false);
  const [pushed, setPushed] = useState<PushRecord>();
  const missing = missingChecks(review);
  const push = useAction(
    () =>
      client
        .pushWork(review.box, {
          accept: [...accepted],
          digest: review.digest,
          skipsChecks,
          isDraft,
          isPushOnly,
          ...Object.fromEntries(Object.entries(given).filter(([, text]) => text.trim() !== "")),
        })
        .catch((error: unknown) => {
          if (isOutdatedError(error)) onOutdated();
          throw error;
        }),
    { isQuiet: true, onDone: setPushed },
  );
  const set = (name: keyof Texts) => (text: string) => setGiven((now) => ({ ...now, [name]: text }));
  return (
    <Dialog
      title={`Pull request for ${review.box}`}
      isOpen={isOpen}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{pushed === undefined ? "Cancel" : "Close"}</Button>
          <Button
            kind="primary"
            isBusy={push.isBusy}
            disabled={missing.length > 0 && !skipsChecks}
            onClick={() => push.run()}
          >
            {isPushOnly ? "Push" : "Push and open"}
          </Button>
        </>
      }
    >
      <div className="parts-stack">
        {pushed === undefined ? null : <Pushed push={pushed} />}
        {push.error === null ? null : <ErrorNote error={push.error} />}
        <Conflicts error={push.error} />
        {fields.map(({ name, label, hint }) => (
          <Field key={name} label={label} hint={hint}>
            <TextInput
              maxLength={244}
              value={given[name]}
              onChange={({ target }) => set(name)(target.value)}
            />
          </Field>
        ))}
        <Field label="Text">
          <TextArea
            rows={4}
            maxLength={65_536}
            value={given.body}
            onChange={({ target }) => set("body")(target.value)}
          />
        </Field>
        <Checkbox label="As a draft" checked={isDraft} onChange={({ target }) => setDraft(target.checked)} />
        <Checkbox
          label="Only push the branch"
          checked={isPushOnly}
          onChange={({ target }) => setPushOnly(target.checked)}
        />
        {missing.length === 0 ? null : (
          <Checkbox
            label={`Without the checks that have not passed: ${missing.join(", ")}`}
            checked={skipsChecks}
            onChange={({ target }) => setSkipsChecks(target.checked)}
          />
        )}
      </div>
    </Dialog>
  );
}

function Pushed({ push: { branch, host, files, url, compareUrl } }: { push: PushRecord }) {
  const address = url ?? compareUrl;
  return (
    <Note>
      <span role="status">
        {files} {files === 1 ? "file is" : "files are"} on <Visible text={branch} /> at{" "}
        <Visible text={host} />.
      </span>
      {address === undefined ? null : <ConfirmLink url={address} />}
    </Note>
  );
}
