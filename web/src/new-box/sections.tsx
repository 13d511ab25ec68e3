import { memo } from "react";
import { Badge } from "../parts/badge.tsx";
import { type Draft, countSet } from "./draft.ts";
import { FieldInput } from "./field-input.tsx";
import { fieldId } from "./form-context.ts";
import type { FormField, Member } from "./schema-fields.ts";

interface SectionsProps {
  readonly root: FormField;
  readonly values: Draft["values"];
  /** Sections with something wrong in them. */
  readonly wrong: ReadonlySet<string>;
  readonly onSection: (name: string, value: unknown) => void;
}

/** Everything else a manifest can say, folded. */
export function Sections({ root, values, wrong, onSection }: SectionsProps) {
  const members = root.kind === "object" ? root.members : [];
  return (
    <div className="parts-stack new-box-sections">
      {members.map((member) => (
        <Section
          key={member.key}
          member={member}
          value={values[member.key]}
          isWrong={wrong.has(member.key)}
          onSection={onSection}
        />
      ))}
    </div>
  );
}

interface SectionProps {
  readonly member: Member;
  readonly value: unknown;
  readonly isWrong: boolean;
  readonly onSection: SectionsProps["onSection"];
}

const Section = memo(function Section({ member: { key, field }, value, isWrong, onSection }: SectionProps) {
  const count = countSet(value);
  return (
    <details className="parts-card new-box-section">
      <summary id={`${fieldId([key])}-summary`}>
        <h2>{field.title}</h2>
        <span className="quiet small new-box-section-hint">{field.hint}</span>
        {count === 0 ? null : <Badge tone="accent">{count} set</Badge>}
        {isWrong ? <Badge tone="bad">wrong</Badge> : null}
      </summary>
      <FieldInput
        field={{ ...field, hint: undefined }}
        path={[key]}
        value={value}
        onChange={(next) => onSection(key, next)}
      />
    </details>
  );
});
