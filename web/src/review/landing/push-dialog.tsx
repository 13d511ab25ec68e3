import { useState } from "react";
import type { PushRecord } from "../../../../src/contract/review/push.ts";
import type { Review } from "../../../../src/contract/review/review.ts";
import { client } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { ConfirmLink } from "../../parts/confirm-link.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Checkbox, Field, TextArea, TextInput } from "../../parts/field.tsx";
import { ErrorNote, Note } from "../../parts/note.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Visible } from "../../parts/visible.tsx";
import { missingChecks } from "./checks.tsx";
import { Conflicts, type LandingProps, MissingChecks, UnsentNote, landing } from "./landing-parts.tsx";

type Texts = Record<"title" | "body" | "base" | "branch" | "remote" | "secret", string>;

const fields: readonly { name: Exclude<keyof Texts, "title" | "body">; label: string; hint?: string }[] = [
  { name: "base", label: "For the branch", hint: "Empty: the default branch of the remote." },
  { name: "branch", label: "Branch to push" },
  { name: "remote", label: "Remote" },
  { name: "secret", label: "Secret of the vault", hint: "Empty: chosen by the host of the remote." },
];

const maxTitle = 244;

/** The first line is the title, the rest is the text; the box names the branch. */
function textsOf({ box, proposal }: Review): Texts {
  const [title = "", ...rest] = (proposal?.message ?? "").split("\n");
  return {
    title: title.slice(0, maxTitle),
    body: rest.join("\n").trim(),
    base: proposal?.remoteBranch ?? "",
    branch: `agentbox/${box}`,
    remote: "origin",
    secret: "",
  };
}

/** Pushes the work to a branch of its own and opens a pull request; nothing of a credential is in the box or here. */
export function PushDialog(props: LandingProps) {
  const { review, accepted, onClose } = props;
  const { box, digest } = review;
  const [given, setGiven] = useState<Texts>(() => textsOf(review));
  const [isDraft, setDraft] = useState(false);
  const [isPushOnly, setPushOnly] = useState(false);
  const [skipsChecks, setSkipsChecks] = useState(false);
  const [pushed, setPushed] = useState<PushRecord>();
  const missing = missingChecks(review);
  const runsChecks = missing.length > 0 && !skipsChecks;
  const push = useAction(
    () =>
      landing(props, runsChecks, () =>
        client.pushWork(box, {
          accept: [...accepted],
          digest,
          skipsChecks,
          isDraft,
          isPushOnly,
          ...Object.fromEntries(Object.entries(given).filter(([, text]) => text.trim() !== "")),
        }),
      ),
    { isQuiet: true, onDone: setPushed },
  );
  const set = (name: keyof Texts) => (text: string) => setGiven((now) => ({ ...now, [name]: text }));
  const verb = isPushOnly ? "push" : "open";
  return (
    <Dialog
      title={`Pull request for ${box}`}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{pushed === undefined ? "Cancel" : "Close"}</Button>
          <Button kind="primary" isBusy={push.isBusy} onClick={() => push.run()}>
            {runsChecks ? `Run checks, then ${verb}` : isPushOnly ? "Push" : "Push and open"}
          </Button>
        </>
      }
    >
      <div className="parts-stack">
        {pushed === undefined ? null : <Pushed push={pushed} />}
        {push.error === null ? null : <ErrorNote error={push.error} />}
        <Conflicts error={push.error} box={box} onClose={onClose} />
        <UnsentNote {...props} />
        <Field label="Title">
          <TextInput
            maxLength={maxTitle}
            value={given.title}
            onChange={({ target }) => set("title")(target.value)}
          />
        </Field>
        <Field label="Text">
          <TextArea
            rows={4}
            maxLength={65_536}
            value={given.body}
            onChange={({ target }) => set("body")(target.value)}
          />
        </Field>
        {fields.map(({ name, label, hint }) => (
          <Field key={name} label={label} hint={hint}>
            <TextInput
              maxLength={244}
              value={given[name]}
              onChange={({ target }) => set(name)(target.value)}
            />
          </Field>
        ))}
        <Checkbox label="As a draft" checked={isDraft} onChange={({ target }) => setDraft(target.checked)} />
        <Checkbox
          label="Only push the branch"
          checked={isPushOnly}
          onChange={({ target }) => setPushOnly(target.checked)}
        />
        <MissingChecks missing={missing} skips={skipsChecks} onSkip={setSkipsChecks} />
      </div>
    </Dialog>
  );
}

function Pushed({ push: { branch, host, files, url, compareUrl } }: { push: PushRecord }) {
  const address = url ?? compareUrl;
  return (
    <Note>
      <output>
        {files} {files === 1 ? "file is" : "files are"} on <Visible text={branch} /> at{" "}
        <Visible text={host} />.
      </output>
      {address === undefined ? null : <ConfirmLink url={address} />}
    </Note>
  );
}
