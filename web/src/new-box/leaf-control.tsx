/** Controls of fields that hold one value. */
import { useId } from "react";
import type { Path } from "../../../src/manifest/path.ts";
import { Select, TextArea, TextInput } from "../parts/field.tsx";
import { type FormField, type LeafField, leafText } from "./schema-fields.ts";

export interface FieldInputProps {
  readonly field: FormField;
  readonly path: Path;
  readonly value: unknown;
  /** Undefined: not set. */
  readonly onChange: (value: unknown) => void;
  /** Replaces the field's own title, such as the name of a row. */
  readonly label?: string | undefined;
  readonly isRequired?: boolean | undefined;
}

export type Leaf = Omit<FieldInputProps, "field"> & { field: LeafField };

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
            // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the value is the text of an option in a list of suggestions
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

/** Text that is no number yet stays as it was typed; the daemon reports it, too. */
function readNumber(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  // A point at the end, or zeros behind it, would vanish under the fingers.
  return /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/.test(trimmed) ? Number(trimmed) : text;
}
