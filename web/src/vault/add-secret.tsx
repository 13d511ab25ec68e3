import { type FormEvent, useRef, useState } from "react";
import type { RouteBodyInput } from "../../../src/contract/api/routes.ts";
import { client } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, Select, TextInput } from "../parts/field.tsx";
import { ErrorNote, Note } from "../parts/note.tsx";
import { type ValueField, takeValue } from "./secret-value.ts";
import { useSending } from "./use-sending.ts";
import { ValueInput } from "./value-input.tsx";

type Body = RouteBodyInput<"addSecret">;
type Kind = NonNullable<Body["kind"]>;
type SourceKind = NonNullable<Body["source"]>["kind"];

const kinds: Readonly<Record<Exclude<Kind, "oauth">, string>> = {
  text: "a token or password",
  "ssh-key": "a private key for SSH",
  aws: "an AWS key, as JSON",
};
const sources: Readonly<Record<SourceKind, string>> = {
  stored: "here, encrypted",
  env: "in a variable of the daemon's environment",
  file: "in a file of the host",
  command: "what a command of the host prints",
};

/** SECURITY: what reads a file or runs a command of the host is said at its command line; the daemon refuses it from here. */
const atTheHost: Partial<Record<SourceKind, string>> = {
  file: "--ref file:PATH",
  command: "--ref command:CMD",
};

const sourceOf = (kind: SourceKind, location: string): NonNullable<Body["source"]> =>
  kind === "env" ? { kind, variable: location.trim() } : { kind: "stored" };

export function AddSecret() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Add a secret
      </Button>
      <Dialog title="Add a secret" isOpen={isOpen} onClose={() => setOpen(false)}>
        <AddForm onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function AddForm({ onDone }: { onDone: () => void }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<keyof typeof kinds>("text");
  const [source, setSource] = useState<SourceKind>("stored");
  const [location, setPosition] = useState("");
  const [note, setNote] = useState("");
  const value = useRef<ValueField>(null);
  const { send, isBusy, error } = useSending();
  const hostFlag = atTheHost[source];
  const add = async (event: FormEvent) => {
    event.preventDefault();
    const isDone = await send(
      () =>
        client.addSecret({
          name: name.trim(),
          kind,
          source: sourceOf(source, location),
          ...(note === "" ? {} : { note }),
          ...(source === "stored" ? { value: takeValue(value.current) } : {}),
        }),
      `Saved ${name.trim()}.`,
    );
    if (isDone) onDone();
  };
  return (
    <form className="parts-stack" onSubmit={(event) => void add(event)}>
      <Field label="Name" hint="Lower-case words, such as github. The manifest asks for it by this name.">
        <TextInput value={name} onChange={({ target }) => setName(target.value)} required />
      </Field>
      <Field label="What it is">
        <Select value={kind} onChange={({ target }) => setKind(target.value as keyof typeof kinds)}>
          {Object.entries(kinds).map(([key, words]) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </Select>
      </Field>
      <Field label="Where its value is stored">
        <Select value={source} onChange={({ target }) => setSource(target.value as SourceKind)}>
          {Object.entries(sources).map(([key, words]) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </Select>
      </Field>
      {source === "stored" ? (
        <ValueInput
          label="Value"
          hint="Sent once. It cannot be read back, here or anywhere."
          isLong={kind !== "text"}
          field={value}
        />
      ) : hostFlag === undefined ? (
        <Field label="Variable">
          <TextInput className="mono" value={location} onChange={({ target }) => setPosition(target.value)} />
        </Field>
      ) : (
        <Note>
          This needs the command line:{" "}
          <span className="mono">
            agentbox vault set {name.trim() === "" ? "NAME" : name.trim()} {hostFlag}
          </span>
        </Note>
      )}
      <Field label="Note" hint="What it is for. Everyone who sees the vault sees it.">
        <TextInput value={note} onChange={({ target }) => setNote(target.value)} />
      </Field>
      {error === undefined ? null : (
        <>
          <ErrorNote error={error} />
          {source === "stored" ? (
            <p className="small quiet">The value is gone from this page; type it again.</p>
          ) : null}
        </>
      )}
      <div className="parts-actions">
        <Button
          type="submit"
          kind="primary"
          isBusy={isBusy}
          disabled={name.trim() === "" || hostFlag !== undefined}
        >
          Save secret
        </Button>
      </div>
    </form>
  );
}
