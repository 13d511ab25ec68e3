/** One renderer for every field there is. Nothing here knows an agent or a section by name. */
import { useContext, useId } from "react";
import { type Path, formatPath } from "../../../src/manifest/path.ts";
import { Field, Select, TextArea, TextInput } from "../parts/field.tsx";
import { ListInput, RecordInput } from "./row-inputs.tsx";
import { ProblemsContext, fieldId } from "./form-context.ts";
import {
  type FormField,
  type LeafField,
  emptyOf,
  leafText,
  optionOf,
  quickProblem,
} from "./schema-fields.ts";

export interface FieldInputProps {
  readonly field: FormField;
  readonly path: Path;
  readonly value: unknown;
  /** Undefined: nobody says anything about it. */
  readonly onChange: (value: unknown) => void;
  /** In the place of the field's own title, such as the name of a row. */
  readonly label?: string | undefined;
  readonly isRequired?: boolean | undefined;
}

export function FieldInput(props: FieldInputProps) {
  const { field } = props;
  if (field.kind === "object") return <ObjectInput {...props} field={field} />;
  if (field.kind === "list") return <ListInput {...props} field={field} />;
  if (field.kind === "record") return <RecordInput {...props} field={field} />;
  if (field.kind === "union") return <UnionInput {...props} field={field} />;
  return <LeafInput {...props} field={field} />;
}

type Of<K extends FormField["kind"]> = FieldInputProps & { field: Extract<FormField, { kind: K }> };
type Leaf = Omit<FieldInputProps, "field"> & { field: LeafField };

/** What the daemon says comes second: it is asked a moment later, about what may be half written. */
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

/** The bare control; what stands around it gives it its label. */
export function LeafControl({
  field,
  value,
  onChange,
  path: _path,
  label: _label,
  isRequired: _isRequired,
  ...rest
}: Leaf & { id?: string; "aria-label"?: string }) {
  const list = useId();
  if (field.kind === "choice" || field.kind === "switch") {
    const choices =
      field.kind === "choice" ? field.choices.map((choice) => [choice, choice] as const) : switches;
    return (
      <Select
        {...rest}
        value={leafText(value)}
        onChange={({ target }) => onChange(readChoice(field.kind, target.value))}
      >
        <option value="">{field.fallback === undefined ? "not set" : `not set (${field.fallback})`}</option>
        {choices.map(([choice, word]) => (
          <option key={choice} value={choice}>
            {word}
          </option>
        ))}
      </Select>
    );
  }
  const shown = leafText(value);
  if (field.kind === "number") {
    return (
      <TextInput
        {...rest}
        inputMode="decimal"
        value={shown}
        placeholder={field.fallback}
        onChange={({ target }) => onChange(readNumber(target.value))}
      />
    );
  }
  const readText = (text: string) => onChange(text === "" ? undefined : text);
  if (field.isLong)
    return <TextArea {...rest} rows={2} value={shown} onChange={({ target }) => readText(target.value)} />;
  return (
    <>
      <TextInput
        {...rest}
        value={shown}
        placeholder={field.fallback ?? field.example}
        list={field.suggestions.length === 0 ? undefined : list}
        onChange={({ target }) => readText(target.value)}
      />
      {field.suggestions.length === 0 ? null : (
        <datalist id={list}>
          {field.suggestions.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </>
  );
}

const switches = [
  ["true", "on"],
  ["false", "off"],
] as const;

function readChoice(kind: "choice" | "switch", text: string): unknown {
  if (text === "") return undefined;
  return kind === "choice" ? text : text === "true";
}

/** What is no number yet stays as it was typed, and the daemon says so, too. */
function readNumber(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  // A point at the end, or zeros behind it, would vanish under the fingers.
  return /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/.test(trimmed) ? Number(trimmed) : text;
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
