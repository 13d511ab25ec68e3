import type { Ref } from "react";
import { Field } from "../parts/field.tsx";
import type { ValueField } from "./secret-value.ts";

interface ValueInputProps {
  readonly label: string;
  readonly hint?: string;
  /** Keys have several lines. */
  readonly isLong?: boolean;
  readonly field: Ref<ValueField>;
}

/** A field whose content only `takeValue` reads. It has no value and no handler of its own. */
export function ValueInput({ label, hint, isLong = false, field }: ValueInputProps) {
  const props = {
    className: "parts-input vault-value",
    autoComplete: "new-password",
    autoCapitalize: "off",
    autoCorrect: "off",
    spellCheck: false,
  } as const;
  return (
    <Field label={label} hint={hint}>
      {isLong ? (
        <textarea {...props} rows={5} ref={field as Ref<HTMLTextAreaElement>} />
      ) : (
        <input {...props} type="password" ref={field as Ref<HTMLInputElement>} />
      )}
    </Field>
  );
}
