import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Ago } from "../parts/amount.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Visible } from "../parts/visible.tsx";
import type { Need } from "./needs.ts";

const atFirst = 4;
const words = { warn: "asks", bad: "trouble", good: "done" } as const;

/** The first thing on the page: what a person has to do something about. Always there, so that nothing jumps. */
export function NeedsYou({ needs }: { needs: readonly Need[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? needs.slice(0, 50) : needs.slice(0, atFirst);
  return (
    <section
      className={`fleet-needs ${needs.length > 0 ? "fleet-needs-some" : ""}`}
      aria-labelledby="fleet-needs"
    >
      <h2 id="fleet-needs" aria-live="polite">
        {needs.length === 0 ? "Nothing is waiting for you" : `Waiting for you: ${needs.length}`}
      </h2>
      {shown.length === 0 ? null : (
        <ul className="fleet-needs-list">
          {shown.map(({ box, what, action, to, tone }) => (
            <li key={box.name} className="fleet-need">
              <div className="fleet-need-text">
                <span className="parts-row">
                  <Badge tone={tone}>{words[tone]}</Badge>
                  <strong>{box.name}</strong>
                  <span className="quiet small">
                    <Ago atMs={box.sinceMs} />
                  </span>
                </span>
                <span className="fleet-need-what">
                  <Visible text={what} />
                </span>
              </div>
              <Link
                className="parts-button"
                to={to}
                params={{ name: box.name }}
                aria-label={`${action}: ${box.name}`}
              >
                <span className="fleet-need-action">{action}</span>
                <Icon name="chevron" />
              </Link>
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
