import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ShareInfo } from "../../../src/contract/api/schemas/access.ts";
import { client } from "../api/client.ts";
import { defaultDurationMs, durations } from "../inbox/answer-words.ts";
import { Ago, Left } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, Select, TextInput } from "../parts/field.tsx";
import { ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";

type May = "look" | "work";

const shareText = (share: ShareInfo["with"]): string =>
  share.kind === "person"
    ? share.name
    : share.isClaimed
      ? "someone with the link"
      : "a link that is not opened yet";

/** Who else may see this box, or work in it; and a new link or person. */
export function ShareDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [may, setMay] = useState<May>("look");
  const [person, setPerson] = useState("");
  const [ttlMs, setTtlMs] = useState<number>(defaultDurationMs);
  const key = ["access", "shares", name];
  const create = useAction(
    () =>
      client.createShare(name, {
        may,
        with: person.trim() === "" ? { link: true } : { person: person.trim() },
        ttlMs,
      }),
    { invalidates: [key], isQuiet: true },
  );
  const [made, setMade] = useState<string>();
  return (
    <Dialog title={`Share ${name}`} isOpen onClose={onClose}>
      <div className="parts-stack">
        <Field label="They may">
          <Select value={may} onChange={({ target }) => setMay(target.value as May)}>
            <option value="look">
              Look: see the terminal, the timeline and the work, and change nothing
            </option>
            <option value="work">Work: type to the agent, start and stop</option>
          </Select>
        </Field>
        <Field label="Person" hint="Their e-mail address. Empty: a link for the first person who opens it.">
          <TextInput value={person} onChange={({ target }) => setPerson(target.value)} />
        </Field>
        <Field label="For">
          <Select value={ttlMs} onChange={({ target }) => setTtlMs(Number(target.value))}>
            {durations.map(({ ms, label }) => (
              <option key={ms} value={ms}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
        <div>
          <Button
            kind="primary"
            isBusy={create.isBusy}
            onClick={() => create.run(undefined, { onSuccess: ({ url }) => setMade(url) })}
          >
            Share
          </Button>
        </div>
        {create.error ? <ErrorNote error={create.error} /> : null}
        {made === undefined ? null : (
          <Note tone="warn">
            <p>Whoever opens this link first gets in. It is shown only once.</p>
            <code>{made}</code>
            <CopyButton text={made} label="Copy the link" />
          </Note>
        )}
        <Shares name={name} queryKey={key} />
      </div>
    </Dialog>
  );
}

function Shares({ name, queryKey }: { name: string; queryKey: readonly string[] }) {
  const { data, error } = useQuery({ queryKey, queryFn: () => client.listShares(name) });
  const end = useAction((id: string) => client.removeShare(name, { id }), {
    done: "Share ended.",
    invalidates: [queryKey],
  });
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={60} />;
  if (data.length === 0) return <p className="quiet">Not shared with anyone.</p>;
  return (
    <ul className="box-plain-list">
      {data.map((share) => (
        <li key={share.id} className="parts-row">
          <Badge>{share.may}</Badge>
          <span>
            <Visible text={shareText(share.with)} />
          </span>
          <span className="quiet small">
            <Ago atMs={share.createdAtMs} />
            {share.expiresAtMs === undefined ? null : (
              <>
                , <Left untilMs={share.expiresAtMs} />
              </>
            )}
          </span>
          <Button kind="quiet" isBusy={end.isBusy} onClick={() => end.run(share.id)}>
            End
          </Button>
        </li>
      ))}
    </ul>
  );
}
