import { useState } from "react";
import { type BoxNeed, NeedBadge, NeedLink } from "../inbox/needs.tsx";
import { Ago } from "../parts/amount.tsx";
import { Button } from "../parts/button.tsx";
import { Visible } from "../parts/visible.tsx";

const atFirst = 4;

/** The first thing on the page. Always there, so that nothing moves when the first need comes. */
export function NeedsYou({ needs }: { needs: readonly BoxNeed[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? needs.slice(0, 50) : needs.slice(0, atFirst);
  return (
    <section
      className={`fleet-needs ${needs.length > 0 ? "fleet-needs-some" : ""}`}
      aria-labelledby="fleet-needs"
    >
      <h2 id="fleet-needs" aria-live="polite">
        {needs.length === 0 ? "Nothing needs you" : `Needs you: ${needs.length}`}
      </h2>
      {shown.length === 0 ? null : (
        <ul className="fleet-needs-list">
          {shown.map((need) => (
            <li key={`${need.box.name} ${need.approval ?? need.kind}`} className="fleet-need">
              <div className="fleet-need-text">
                <span className="parts-row">
                  <NeedBadge kind={need.kind} />
                  <strong>{need.box.name}</strong>
                  <span className="quiet small">
                    <Ago atMs={need.sinceMs} />
                  </span>
                </span>
                <span className="fleet-need-what">
                  <Visible text={need.sentence} />
                </span>
              </div>
              <NeedLink need={need} />
            </li>
          ))}
        </ul>
      )}
      {needs.length > atFirst ? (
        <Button kind="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show fewer" : `Show all ${needs.length}`}
        </Button>
      ) : null}
    </section>
  );
}
