import { type ComponentProps, type ReactElement, type ReactNode, cloneElement, useId } from "react";
import { Icon } from "./icon.tsx";

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  /** One input; it gets the label's id and what describes it. */
  children: ReactElement<{ id?: string; "aria-describedby"?: string; "aria-invalid"?: boolean }>;
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const note = `${id}-note`;
  const isDescribed = hint !== undefined || error !== undefined;
  return (
    <div className="parts-field">
      <label className="parts-field-label" htmlFor={children.props.id ?? id}>
        {label}
      </label>
      {cloneElement(children, {
        id: children.props.id ?? id,
        "aria-invalid": error !== undefined,
        ...(isDescribed ? { "aria-describedby": note } : {}),
      })}
      {isDescribed ? (
        <div id={note} className="small">
          {error === undefined ? null : (
            <div className="parts-field-error" role="alert">
              {error}
            </div>
          )}
          {hint === undefined ? null : <div className="quiet">{hint}</div>}
        </div>
      ) : null}
    </div>
  );
}

export const TextInput = ({ className = "", ...rest }: ComponentProps<"input">) => (
  <input type="text" autoComplete="off" spellCheck={false} className={`parts-input ${className}`} {...rest} />
);

export const TextArea = ({ className = "", ...rest }: ComponentProps<"textarea">) => (
  <textarea className={`parts-input ${className}`} {...rest} />
);

export const Select = ({ className = "", ...rest }: ComponentProps<"select">) => (
  <select className={`parts-input ${className}`} {...rest} />
);

export function Checkbox({ label, ...rest }: Omit<ComponentProps<"input">, "type"> & { label: ReactNode }) {
  return (
    <label className="parts-check">
      <input type="checkbox" {...rest} />
      <span>{label}</span>
    </label>
  );
}

export function Switch({ label, ...rest }: Omit<ComponentProps<"input">, "type"> & { label: ReactNode }) {
  return (
    <label className="parts-check">
      {/* oxlint-disable-next-line jsx-a11y/role-has-required-aria-props -- a checkbox tells its state by itself */}
      <input type="checkbox" role="switch" {...rest} />
      <span>{label}</span>
    </label>
  );
}

export function SearchInput({ label, ...rest }: Omit<ComponentProps<"input">, "type"> & { label: string }) {
  return (
    <div className="parts-search">
      <Icon name="search" />
      <TextInput {...rest} type="search" aria-label={label} placeholder={rest.placeholder ?? label} />
    </div>
  );
}
