import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { BudgetScope, BudgetStatus } from "../../../src/contract/model/budget.ts";
import { obstacleSentence } from "../../../src/contract/model/budget-words.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { budgetQuery } from "../api/queries.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { formatCount, formatMoney } from "../parts/format.ts";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { Panel } from "./panel.tsx";
import { RaiseDialog } from "./raise-dialog.tsx";

export function BudgetPanel({ name }: { name: string }) {
  const { data, error } = useQuery(budgetQuery(name));
  const [raised, setRaised] = useState<BudgetScope>();
  const isOwn = useMayOn(name, "own");
  const mayRaise = useMay("approve") && isOwn;
  return (
    <Panel title="Budget">
      {error ? <ErrorNote error={error} /> : null}
      {!data && !error ? <Skeleton height={80} /> : null}
      {data?.isExhausted ? (
        <p>
          <Badge tone="bad">out of budget</Badge>{" "}
          {data.obstacle ? obstacleSentence(data.obstacle) : "Its limit is used up."} The agent waits until it
          is raised.
        </p>
      ) : null}
      {data?.limits.length === 0 ? <p className="quiet">No limit is set for this box.</p> : null}
      {data?.limits.map((limit) => (
        <Limit
          key={`${limit.scope} ${limit.layer}`}
          limit={limit}
          onRaise={mayRaise ? () => setRaised(limit.scope) : undefined}
        />
      ))}
      {raised === undefined ? null : (
        <RaiseDialog
          name={name}
          scope={raised}
          obstacle={data?.obstacle?.scope === raised ? data.obstacle : undefined}
          onClose={() => setRaised(undefined)}
        />
      )}
    </Panel>
  );
}

function Limit({ limit, onRaise }: { limit: BudgetStatus; onRaise: (() => void) | undefined }) {
  const { scope, layer, tokens, microUsd, usedTokens, usedMicroUsd } = limit;
  const title = `for each ${scope}, set by the ${layer}`;
  return (
    <div className="box-limit">
      {tokens === undefined ? null : (
        <Meter
          label={`${formatCount(usedTokens)} of ${formatCount(tokens)} tokens ${title}`}
          used={usedTokens}
          max={tokens}
        />
      )}
      {microUsd === undefined ? null : (
        <Meter
          label={`${formatMoney(usedMicroUsd)} of ${formatMoney(microUsd)} ${title}`}
          used={usedMicroUsd}
          max={microUsd}
        />
      )}
      {onRaise === undefined ? null : (
        <div>
          <Button onClick={onRaise}>Raise</Button>
        </div>
      )}
    </div>
  );
}

const Meter = ({ label, used, max }: { label: string; used: number; max: number }) => (
  <label className="box-meter">
    <span>{label}</span>
    <progress max={max} value={Math.min(used, max)} />
  </label>
);
