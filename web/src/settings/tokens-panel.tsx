import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Scope, wordScopes } from "../../../src/contract/access/scope-names.ts";
import { client } from "../api/client.ts";
import { useMe } from "../api/me.ts";
import { Ago, Left } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Checkbox, Field, Select, TextInput } from "../parts/field.tsx";
import { ErrorNote, Note, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Visible } from "../parts/visible.tsx";
import { Section } from "./section.tsx";
import { TableScroll } from "../parts/table-scroll.tsx";
import { TableHead } from "../parts/table-head.tsx";

const words: Readonly<Record<Scope, string>> = {
  read: "see boxes, their output, files and events",
  work: "make, start, stop and use boxes",
  review: "comment on work, merge, push and discard it",
  approve: "answer questions, change policies and budgets, share boxes",
  secrets: "manage the vault, without ever reading a value",
  host: "manage the daemon, images, agents, tokens and sign-ins",
  trust: "agree to mounts, secrets, hosts and dangers in your place",
  export: "take the whole vault out",
};

const dayMs = 86_400_000;
const lengths = [
  [7 * dayMs, "7 days"],
  [30 * dayMs, "30 days"],
  [90 * dayMs, "90 days"],
  [365 * dayMs, "1 year"],
] as const;

const queryKey = ["access", "tokens"];

export function TokensPanel() {
  return (
    <Section title="Access tokens">
      <p className="quiet">For programs that use the API. Each may do what it was made for, and no more.</p>
      <Tokens />
      <NewToken />
    </Section>
  );
}

function Tokens() {
  const { data, error } = useQuery({ queryKey, queryFn: () => client.listTokens() });
  const remove = useAction((id: string) => client.removeToken({ id }), {
    done: "Token removed.",
    invalidates: [queryKey],
  });
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={80} />;
  if (data.length === 0) return <p className="quiet">No tokens yet.</p>;
  return (
    <TableScroll>
      <table className="table box-stacked">
        <caption className="visually-hidden">Access tokens</caption>
        <TableHead columns={["Name", "May", "Used", "Ends"]} hasActions />
        <tbody>
          {data.map(({ id, name, scopes, usedAtMs, expiresAtMs }) => (
            <tr key={id}>
              <td>
                <Visible text={name} />
              </td>
              <td>
                <span className="parts-row">
                  {scopes.map((scope) => (
                    <Badge key={scope}>{scope}</Badge>
                  ))}
                </span>
              </td>
              <td data-label="Used">{usedAtMs === undefined ? "never" : <Ago atMs={usedAtMs} />}</td>
              <td data-label="Ends">
                {expiresAtMs === undefined ? "never" : <Left untilMs={expiresAtMs} />}
              </td>
              <td>
                <ConfirmButton
                  question={`Remove the token ${name}?`}
                  confirm="Remove"
                  kind="danger"
                  details={<p>Programs that use it are refused from now on.</p>}
                  aria-label={`Remove ${name}`}
                  isBusy={remove.isBusy}
                  onConfirm={() => remove.run(id)}
                >
                  Remove
                </ConfirmButton>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

function NewToken() {
  const mine = (useMe()?.scopes ?? []).filter((scope) => !wordScopes.includes(scope));
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [ttlMs, setTtlMs] = useState<number>(30 * dayMs);
  const [value, setValue] = useState<string>();
  const { run, isBusy, error } = useAction(
    () => client.createToken({ name: name.trim(), scopes: [...scopes], ttlMs }),
    {
      invalidates: [queryKey],
      onDone(made) {
        setValue(made.value);
        setName("");
      },
      isQuiet: true,
    },
  );
  const toggle = (scope: Scope, isOn: boolean) =>
    setScopes(isOn ? [...scopes, scope] : scopes.filter((one) => one !== scope));
  return (
    <form
      className="parts-stack"
      onSubmit={(event) => {
        event.preventDefault();
        setValue(undefined);
        run();
      }}
    >
      <h3>New token</h3>
      <Field label="Name">
        <TextInput value={name} maxLength={64} onChange={({ target }) => setName(target.value)} />
      </Field>
      <fieldset className="settings-scopes">
        <legend>It may</legend>
        {mine.map((scope) => (
          <Checkbox
            key={scope}
            label={
              <>
                <strong>{scope}</strong>: {words[scope]}
              </>
            }
            checked={scopes.includes(scope)}
            onChange={({ target }) => toggle(scope, target.checked)}
          />
        ))}
      </fieldset>
      <p className="small quiet">
        A token for <strong>trust</strong> or <strong>export</strong> is made at the command line:{" "}
        <span className="mono">agentbox token create NAME --scope trust</span>
      </p>
      <Field label="For">
        <Select value={ttlMs} onChange={({ target }) => setTtlMs(Number(target.value))}>
          {lengths.map(([ms, label]) => (
            <option key={ms} value={ms}>
              {label}
            </option>
          ))}
        </Select>
      </Field>
      <div>
        <Button
          type="submit"
          kind="primary"
          isBusy={isBusy}
          disabled={name.trim() === "" || scopes.length === 0}
        >
          Create token
        </Button>
      </div>
      {error ? <ErrorNote error={error} /> : null}
      {value === undefined ? null : (
        <Note tone="warn">
          <p>This is the only time it is shown.</p>
          <code className="settings-value">{value}</code>
          <CopyButton text={value} label="Copy the token" />
        </Note>
      )}
    </form>
  );
}
