import { type FormEvent, useRef, useState } from "react";
import { parseDuration } from "../../../src/base/duration.ts";
import { client } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, TextInput } from "../parts/field.tsx";
import { ErrorNote } from "../parts/note.tsx";
import { type ValueField, takeValue } from "./secret-value.ts";
import { useSending } from "./use-sending.ts";
import { ValueInput } from "./value-input.tsx";

interface RotateProps {
  readonly name: string;
  readonly isLong: boolean;
}

export function RotateSecret({ name, isLong }: RotateProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Rotate</Button>
      <Dialog title={`A new value for ${name}`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <RotateForm name={name} isLong={isLong} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function RotateForm({ name, isLong, onDone }: RotateProps & { onDone: () => void }) {
  const [grace, setGrace] = useState("");
  const value = useRef<ValueField>(null);
  const { send, isBusy, error } = useSending();
  const graceMs = grace === "" ? 0 : parseDuration(grace);
  const rotate = async (event: FormEvent) => {
    event.preventDefault();
    if (graceMs === undefined) return;
    const isDone = await send(
      () => client.rotateSecret({ name, value: takeValue(value.current), graceMs }),
      `${name} has a new value; boxes use it from the next request on.`,
    );
    if (isDone) onDone();
  };
  return (
    <form className="parts-stack" onSubmit={(event) => void rotate(event)}>
      <ValueInput label="New value" isLong={isLong} field={value} />
      <Field
        label="Grace"
        hint="How long the old value is still taken; empty: not at all."
        error={graceMs === undefined ? "Write it like 90s, 1h30m, 5d." : undefined}
      >
        <TextInput value={grace} onChange={({ target }) => setGrace(target.value)} placeholder="0s" />
      </Field>
      {error === undefined ? null : <ErrorNote error={error} />}
      <div className="parts-actions">
        <Button type="submit" kind="primary" isBusy={isBusy}>
          Rotate
        </Button>
      </div>
    </form>
  );
}
