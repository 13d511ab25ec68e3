import { useState } from "react";
import type { Danger, DangerKind } from "../../../../src/contract/review/danger.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Checkbox } from "../../parts/field.tsx";
import { Visible } from "../../parts/visible.tsx";
import { byKind, dangerWords } from "./danger-words.ts";

interface DangerLaneProps {
  dangers: readonly Danger[];
  accepted: ReadonlySet<DangerKind>;
  current: Danger | undefined;
  canAccept: boolean;
  onAccept: (kind: DangerKind, isAccepted: boolean) => void;
  onGo: (danger: Danger) => void;
}

/** A repository with a thousand new workflows is as bad as one with five, and must not push the diff off the page. */
const shownAtOnce = 5;

/** Changes that will run, or widen an agent's power, once the work lands. Each kind must be looked at first. */
export function DangerLane({ dangers, accepted, current, canAccept, onAccept, onGo }: DangerLaneProps) {
  if (dangers.length === 0) return null;
  const kinds = byKind(dangers);
  const open = kinds.filter(([kind]) => !accepted.has(kind)).length;
  return (
    <section className="review-dangers" aria-label="Dangers">
      <h2>
        {dangers.length} {dangers.length === 1 ? "danger" : "dangers"}
        {" · "}
        {open === 0
          ? "all looked at"
          : `${open} ${open === 1 ? "kind" : "kinds"} to look at before it can land`}
      </h2>
      <ul className="review-danger-kinds">
        {kinds.map(([kind, group]) => (
          <DangerGroup
            key={kind}
            kind={kind}
            group={group}
            current={current}
            isAccepted={accepted.has(kind)}
            canAccept={canAccept}
            onAccept={onAccept}
            onGo={onGo}
          />
        ))}
      </ul>
    </section>
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
}: {
  kind: DangerKind;
  group: readonly Danger[];
  isAccepted: boolean;
} & Pick<DangerLaneProps, "current" | "canAccept" | "onAccept" | "onGo">) {
  const [isAll, setAll] = useState(false);
  const shown = isAll ? group : group.slice(0, shownAtOnce);
  return (
    <li className="review-danger-kind">
      <div className="review-danger-head">
        <h3>
          {dangerWords[kind]} <Badge tone={isAccepted ? "good" : "warn"}>{kind.replaceAll("_", " ")}</Badge>
        </h3>
        {canAccept ? (
          <Checkbox
            label="I have looked at this"
            aria-label={`I have looked at this: ${dangerWords[kind]}`}
            checked={isAccepted}
            onChange={({ target }) => onAccept(kind, target.checked)}
          />
        ) : null}
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
          </li>
        ))}
      </ul>
      {group.length > shown.length ? (
        <Button kind="quiet" onClick={() => setAll(true)}>
          Show all {group.length}
        </Button>
      ) : null}
    </li>
  );
}
