/** One renderer for every field there is. Nothing here knows an agent or a section by name. */
import { useContext, useState } from "react";
import { type Path, formatPath } from "../../../src/manifest/path.ts";
import { Button, IconButton } from "../parts/button.tsx";
import { Field, Select, TextInput } from "../parts/field.tsx";
import { ProblemsContext, fieldId } from "./form-context.ts";
import { type FieldInputProps, type Leaf, LeafControl } from "./leaf-control.tsx";
import { type FormField, type LeafField, emptyOf, optionOf, quickProblem } from "./schema-fields.ts";

export function FieldInput(props: FieldInputProps) {
  const { field } = props;
  if (field.kind === "object") return <ObjectInput {...props} field={field} />;
  if (field.kind === "list") return <ListInput {...props} field={field} />;
  if (field.kind === "record") return <RecordInput {...props} field={field} />;
  if (field.kind === "union") return <UnionInput {...props} field={field} />;
  return <LeafInput {...props} field={field} />;
}

type Of<K extends FormField["kind"]> = FieldInputProps & { field: Extract<FormField, { kind: K }> };

/** The daemon's answer comes second: it is asked a moment later, about values that may be half written. */
function useProblem(field: FormField, path: Path, value: unknown): string | undefined {
  const problems = useContext(ProblemsContext);
  return quickProblem(field, value) ?? problems.get(formatPath(path));
}

function LeafInput(props: Leaf) {
  const { field, path, value, label, isRequired } = props;
  const error = useProblem(field, path, value);
  return (
    <Field
      label={`${label ?? field.title}${isRequired ? " (required)" : ""}`}
      hint={field.hint}
      error={error}
    >
      <LeafControl {...props} id={fieldId(path)} />
    </Field>
  );
}

function ObjectInput({ field, path, value, onChange, label }: Of<"object">) {
  const problems = useContext(ProblemsContext);
  const own = problems.get(formatPath(path));
  const values = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  const set = (key: string, next: unknown) => {
    const { [key]: _old, ...others } = values;
    const all = next === undefined ? others : { ...values, [key]: next };
    onChange(Object.keys(all).length === 0 ? undefined : all);
  };
  return (
    <fieldset className="new-box-group" id={fieldId(path)}>
      <legend>{label ?? field.title}</legend>
      {own === undefined ? null : <div className="parts-field-error">{own}</div>}
      <div className="new-box-fields">
        {field.members.map((member) => (
          <FieldInput
            key={member.key}
            field={member.field}
            path={[...path, member.key]}
            value={Object.hasOwn(values, member.key) ? values[member.key] : undefined}
            onChange={(next) => set(member.key, next)}
            isRequired={member.isRequired}
          />
        ))}
      </div>
    </fieldset>
  );
}

const wayNames: Readonly<Record<FormField["kind"], string>> = {
  text: "a text",
  number: "a number",
  switch: "a switch",
  choice: "a choice",
  list: "a list",
  record: "entries",
  object: "from elsewhere",
  union: "one of several",
};

function UnionInput({ field, path, value, onChange, label, isRequired }: Of<"union">) {
  const now = optionOf(field.options, value);
  const chosen = field.options[now]!;
  const title = label ?? field.title;
  return (
    <div className="new-box-union">
      <FieldInput
        field={{ ...chosen, title, hint: field.hint }}
        path={path}
        value={value}
        onChange={onChange}
        isRequired={isRequired}
      />
      <Select
        className="new-box-way"
        aria-label={`${title}: how it is written`}
        value={now}
        onChange={({ target }) => onChange(emptyOf(field.options[Number(target.value)]!))}
      >
        {field.options.map((option, index) => (
          <option key={`${option.kind}${index}`} value={index}>
            {wayNames[option.kind]}
          </option>
        ))}
      </Select>
    </div>
  );
}

const isLeaf = (field: FormField): field is LeafField =>
  ["text", "number", "switch", "choice"].includes(field.kind);

/** A row whose text is empty is still a row. */
const rowValue = (field: FormField, value: unknown): unknown => value ?? emptyOf(field);

function ListInput({ field, path, value, onChange, label }: Of<"list">) {
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

function RecordInput({ field, path, value, onChange, label }: Of<"record">) {
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
