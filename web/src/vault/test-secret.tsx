import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../api/client.ts";
import { boxesQuery } from "../api/queries.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, Select, TextInput } from "../parts/field.tsx";
import { ErrorNote } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import type { SecretTest } from "../../../src/contract/api/schemas/vault.ts";
import { useAction } from "../parts/use-action.ts";

/** Makes a request as a box would, and says what happened to the secret. */
export function TestSecret({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Test</Button>
      <Dialog title={`Does ${name} work?`} isOpen={isOpen} onClose={() => setOpen(false)}>
        <TestForm name={name} />
      </Dialog>
    </>
  );
}

function TestForm({ name }: { name: string }) {
  const boxes = (useQuery(boxesQuery).data ?? []).filter(({ phase }) => phase === "running");
  const [box, setBox] = useState("");
  const [path, setPath] = useState("");
  const [tests, setTests] = useState<readonly SecretTest[]>();
  const test = useAction(() => client.testSecret(box, { name, ...(path === "" ? {} : { path }) }), {
    isQuiet: true,
    invalidates: [["vault", "receipts"]],
    onDone: setTests,
  });
  return (
    <div className="parts-stack">
      <Field label="From inside the box" hint="Only boxes that run can be asked.">
        <Select value={box} onChange={({ target }) => setBox(target.value)}>
          <option value="">choose a box</option>
          {boxes.map((one) => (
            <option key={one.name} value={one.name}>
              {one.name}
            </option>
          ))}
        </Select>
      </Field>
      <Field label="Path" hint="Of the request; one that the grant allows unless given.">
        <TextInput className="mono" value={path} onChange={({ target }) => setPath(target.value)} />
      </Field>
      {test.error ? <ErrorNote error={test.error} /> : null}
      <ul className="vault-list" aria-live="polite" aria-label="Results">
        {(tests ?? []).map((one) => (
          <li key={`${one.method} ${one.url}`}>
            <Badge tone={one.isInjected ? "good" : "bad"}>{one.isInjected ? "used" : "not used"}</Badge>{" "}
            <Visible text={`${one.method} ${one.url}`} />
            <div className="quiet">
              <Visible text={one.sentence} />
            </div>
          </li>
        ))}
      </ul>
      <div className="parts-actions">
        <Button kind="primary" disabled={box === ""} isBusy={test.isBusy} onClick={() => test.run()}>
          Make a request
        </Button>
      </div>
    </div>
  );
}
