/** All dangers in one line that stays in sight, and each of them again in the diff, at its line. */
import { useState } from "react";
import type { Danger, DangerKind } from "../../../../src/contract/review/danger.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button, IconButton } from "../../parts/button.tsx";
import { Checkbox } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Visible } from "../../parts/visible.tsx";
import { byKind, dangerWords } from "./danger-words.ts";

interface DangerBarProps {
  dangers: readonly Danger[];
  accepted: ReadonlySet<DangerKind>;
  current: Danger | undefined;
  canAccept: boolean;
  onAccept: (kind: DangerKind, isAccepted: boolean) => void;
  onGo: (danger: Danger) => void;
  onStep: (by: 1 | -1) => void;
  /** Takes a directory that a tool has filled out of the work. */
  onIgnore?: ((directory: string) => void) | undefined;
  isIgnoring?: boolean | undefined;
}

/** A repository with a thousand new workflows is as bad as one with five, and its list must stay short. */
const shownAtOnce = 5;

/** Nothing lands before each kind is looked at. */
export function DangerBar(props: DangerBarProps) {
  const { dangers, accepted, onStep } = props;
  const [isOpen, setOpen] = useState(false);
  if (dangers.length === 0) return null;
  const open = dangers.filter(({ kind }) => !accepted.has(kind)).length;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape in any of its buttons closes the list
    <section
      className={`review-dangers ${open === 0 ? "review-dangers-done" : ""}`}
      aria-label="Dangers"
      onKeyDown={({ key }) => key === "Escape" && setOpen(false)}
    >
      <Icon name={open === 0 ? "check" : "warning"} />
      <button
        type="button"
        className="review-dangers-title"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <strong>
          {dangers.length.toLocaleString("en-US")}{" "}
          <span className="review-dangers-word">{dangers.length === 1 ? "danger" : "dangers"}</span>
        </strong>
        <span className="review-dangers-word small">
          {open === 0 ? "all reviewed" : `${open.toLocaleString("en-US")} to review`}
        </span>
        <Icon name="chevron" />
      </button>
      <IconButton label="Previous danger" icon="chevron" onClick={() => onStep(-1)} />
      <IconButton label="Next danger" icon="chevron" onClick={() => onStep(1)} />
      {isOpen ? (
        <DangerList
          {...props}
          onGo={(danger) => {
            setOpen(false);
            props.onGo(danger);
          }}
        />
      ) : null}
    </section>
  );
}

function DangerList(props: DangerBarProps) {
  const { dangers, accepted } = props;
  return (
    <ul className="review-danger-kinds">
      {byKind(dangers).map(([kind, group]) => (
        <DangerGroup key={kind} {...props} kind={kind} group={group} isAccepted={accepted.has(kind)} />
      ))}
    </ul>
  );
}

function DangerGroup({
  kind,
  group,
  current,
  isAccepted,
  canAccept,
  onAccept,
  onGo,
  onIgnore,
  isIgnoring = false,
}: {
  kind: DangerKind;
  group: readonly Danger[];
  isAccepted: boolean;
} & Pick<DangerBarProps, "current" | "canAccept" | "onAccept" | "onGo" | "onIgnore" | "isIgnoring">) {
  const [isAll, setAll] = useState(false);
  const shown = isAll ? group : group.slice(0, shownAtOnce);
  return (
    <li className="review-danger-kind">
      <div className="review-danger-head">
        <h3>
          {dangerWords[kind]} <KindBadge kind={kind} isAccepted={isAccepted} />
        </h3>
        {canAccept ? <AcceptBox kind={kind} isAccepted={isAccepted} onAccept={onAccept} /> : null}
      </div>
      <ul className="review-danger-list">
        {shown.map((danger, index) => (
          <li key={index} aria-current={danger === current}>
            <button type="button" className="review-danger-place mono" onClick={() => onGo(danger)}>
              <Visible text={danger.path} />
              {danger.line === undefined ? "" : `:${danger.line}`}
            </button>{" "}
            <span>
              <Visible text={danger.why} />
            </span>
            {kind === "installed" && onIgnore ? (
              <Button kind="quiet" isBusy={isIgnoring} onClick={() => onIgnore(danger.path)}>
                Ignore it
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {group.length > shown.length ? (
        <Button kind="quiet" onClick={() => setAll(true)}>
          Show all {group.length.toLocaleString("en-US")}
        </Button>
      ) : null}
    </li>
  );
}

const KindBadge = ({ kind, isAccepted }: { kind: DangerKind; isAccepted: boolean }) => (
  <Badge tone={isAccepted ? "good" : "warn"}>{kind.replaceAll("_", " ")}</Badge>
);

function AcceptBox({
  kind,
  isAccepted,
  onAccept,
  count = 1,
}: {
  kind: DangerKind;
  isAccepted: boolean;
  onAccept: (kind: DangerKind, isAccepted: boolean) => void;
  count?: number;
}) {
  return (
    <Checkbox
      label={
        count === 1
          ? "I have looked at this"
          : `I have looked at all ${count.toLocaleString("en-US")} of this kind`
      }
      aria-label={`I have looked at this: ${dangerWords[kind]}`}
      checked={isAccepted}
      onChange={({ target }) => onAccept(kind, target.checked)}
    />
  );
}

/** A danger where it is: under its line in the diff, or under the head of its file. */
export function DangerNote({
  danger,
  count,
  isAccepted,
  isCurrent,
  canAccept,
  onAccept,
}: {
  danger: Danger;
  /** How many of its kind there are: they are looked at together. */
  count: number;
  isAccepted: boolean;
  isCurrent: boolean;
  canAccept: boolean;
  onAccept: (kind: DangerKind, isAccepted: boolean) => void;
}) {
  const { kind, why } = danger;
  return (
    <div
      className={`review-danger-note ${isAccepted ? "review-danger-note-done" : ""}`}
      role="note"
      aria-label={`Danger: ${dangerWords[kind]}`}
      aria-current={isCurrent}
    >
      <Icon name={isAccepted ? "check" : "warning"} />
      <span className="review-danger-why">
        <strong>{dangerWords[kind]}</strong> <Visible text={why} />
      </span>
      {canAccept ? <AcceptBox kind={kind} isAccepted={isAccepted} onAccept={onAccept} count={count} /> : null}
    </div>
  );
}
