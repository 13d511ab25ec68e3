/** Lists and entries with names: rows that come and go. */
import { useContext, useState } from "react";
import { formatPath } from "../../../src/manifest/path.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { TextInput } from "../parts/field.tsx";
import { FieldInput, type FieldInputProps, LeafControl } from "./field-input.tsx";
import { ProblemsContext, fieldId } from "./form-context.ts";
import { type FormField, type LeafField, emptyOf } from "./schema-fields.ts";

type Of<K extends FormField["kind"]> = FieldInputProps & { field: Extract<FormField, { kind: K }> };

const isLeaf = (field: FormField): field is LeafField =>
  ["text", "number", "switch", "choice"].includes(field.kind);

/** A row whose text is empty is still a row. */
const rowValue = (field: FormField, value: unknown): unknown => value ?? emptyOf(field);

export function ListInput({ field, path, value, onChange, label }: Of<"list">) {
  const problems = useContext(ProblemsContext);
  const rows: readonly unknown[] = Array.isArray(value) ? value : [];
  const title = label ?? field.title;
  const set = (next: readonly unknown[]) => onChange(next.length === 0 ? undefined : next);
  const { item } = field;
  return (
    <fieldset className="new-box-group" id={fieldId(path)}>
      <legend>{title}</legend>
      <Hint field={field} error={problems.get(formatPath(path))} />
      {rows.map((row, index) => {
        const at = [...path, index];
        const change = (next: unknown) => set(rows.with(index, rowValue(item, next)));
        const error = problems.get(formatPath(at));
        return (
          // Rows have no name of their own; they only change at the end or as a whole.
          // oxlint-disable-next-line react/no-array-index-key
          <div key={index} className="new-box-row">
            <div className="new-box-row-value">
              {isLeaf(item) ? (
                <LeafControl
                  field={item}
                  path={at}
                  value={row}
                  onChange={change}
                  id={fieldId(at)}
                  aria-label={`${title} ${index + 1}`}
                />
              ) : (
                <FieldInput
                  field={item}
                  path={at}
                  value={row}
                  onChange={change}
                  label={`${title} ${index + 1}`}
                />
              )}
              {isLeaf(item) && error !== undefined ? <div className="parts-field-error">{error}</div> : null}
            </div>
            <IconButton
              label={`Remove ${title} ${index + 1}`}
              icon="trash"
              onClick={() => set(rows.filter((_row, other) => other !== index))}
            />
          </div>
        );
      })}
      <Button onClick={() => set([...rows, emptyOf(item)])} aria-label={`Add to ${title}`}>
        Add
      </Button>
    </fieldset>
  );
}

export function RecordInput({ field, path, value, onChange, label }: Of<"record">) {
  const problems = useContext(ProblemsContext);
  const [name, setName] = useState("");
  const entries = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  const title = label ?? field.title;
  const isUsable = name !== "" && !Object.hasOwn(entries, name) && field.keyPattern?.test(name) !== false;
  const set = (next: Record<string, unknown>) => onChange(Object.keys(next).length === 0 ? undefined : next);
  const remove = (key: string) => {
    const { [key]: _old, ...others } = entries;
    set(others);
  };
  const add = () => {
    if (!isUsable) return;
    set({ ...entries, [name]: emptyOf(field.value) });
    setName("");
  };
  return (
    <fieldset className="new-box-group" id={fieldId(path)}>
      <legend>{title}</legend>
      <Hint field={field} error={problems.get(formatPath(path))} />
      {Object.entries(entries).map(([key, entry]) => (
        <div key={key} className="new-box-row">
          <div className="new-box-row-value">
            <FieldInput
              field={{ ...field.value, hint: undefined }}
              path={[...path, key]}
              value={entry}
              onChange={(next) => set({ ...entries, [key]: rowValue(field.value, next) })}
              label={key}
            />
          </div>
          <IconButton label={`Remove ${key}`} icon="trash" onClick={() => remove(key)} />
        </div>
      ))}
      <div className="new-box-row">
        <TextInput
          aria-label={`New name in ${title}`}
          placeholder="name"
          value={name}
          aria-invalid={name !== "" && !isUsable}
          onChange={({ target }) => setName(target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
        <Button onClick={add} disabled={!isUsable} aria-label={`Add to ${title}`}>
          Add
        </Button>
      </div>
    </fieldset>
  );
}

function Hint({ field, error }: { field: FormField; error: string | undefined }) {
  return (
    <>
      {error === undefined ? null : <div className="parts-field-error">{error}</div>}
      {field.hint === undefined ? null : <p className="small quiet">{field.hint}</p>}
    </>
  );
}
