import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { BudgetScope, BudgetStatus } from "../../../src/contract/model/budget.ts";
import { client } from "../api/client.ts";
import { useMay, useMayOn } from "../api/me.ts";
import { budgetQuery } from "../api/queries.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, TextInput } from "../parts/field.tsx";
import { formatCount, formatMoney } from "../parts/format.ts";
import { ErrorNote, Skeleton } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { Panel } from "./panel.tsx";
import { parseRaise } from "./raise.ts";

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
          <Badge tone="bad">used up</Badge> The agent waits until it is raised.
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
        <RaiseDialog name={name} scope={raised} onClose={() => setRaised(undefined)} />
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

function RaiseDialog({ name, scope, onClose }: { name: string; scope: BudgetScope; onClose: () => void }) {
  const [tokens, setTokens] = useState("");
  const [usd, setUsd] = useState("");
  const raise = parseRaise(tokens, usd);
  const { run, isBusy, error } = useAction(
    () => client.raiseBudget(name, { scope, ...("problem" in raise ? {} : raise) }),
    { done: "Raised.", invalidates: [["box", name], ["boxes"]], onDone: onClose, isQuiet: true },
  );
  const problem = "problem" in raise ? raise.problem : undefined;
  const isTyped = tokens !== "" || usd !== "";
  return (
    <Dialog
      title={`Raise the budget for each ${scope}`}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" isBusy={isBusy} disabled={problem !== undefined} onClick={() => run()}>
            Raise
          </Button>
        </>
      }
    >
      <div className="parts-stack">
        <p>It is added to the limit, and an agent that waits for it goes on.</p>
        <Field label="More tokens" error={isTyped ? problem : undefined}>
          <TextInput inputMode="numeric" value={tokens} onChange={({ target }) => setTokens(target.value)} />
        </Field>
        <Field label="More US dollars">
          <TextInput inputMode="decimal" value={usd} onChange={({ target }) => setUsd(target.value)} />
        </Field>
        {error ? <ErrorNote error={error} /> : null}
      </div>
    </Dialog>
  );
}
