import { useId } from "react";

interface ChipsProps {
  readonly title: string;
  readonly hint: string;
  readonly names: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Names to switch on and off, any number of them. */
export function Chips({ title, hint, names, chosen, onChange }: ChipsProps) {
  const id = useId();
  if (names.length === 0) return null;
  const toggle = (name: string) =>
    onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  return (
    <div className="parts-field">
      <span id={id} className="parts-field-label">
        {title}
      </span>
      <fieldset className="new-box-chips" aria-labelledby={id} aria-describedby={`${id}-hint`}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            className="new-box-chip"
            aria-pressed={chosen.includes(name)}
            onClick={() => toggle(name)}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <div id={`${id}-hint`} className="small quiet">
        {hint}
      </div>
    </div>
  );
}
