import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { BudgetObstacle, BudgetScope } from "../../../src/contract/model/budget.ts";
import { obstacleSentence, raiseBy } from "../../../src/contract/model/budget-words.ts";
import { client } from "../api/client.ts";
import { budgetQuery } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, TextInput } from "../parts/field.tsx";
import { ErrorNote } from "../parts/note.tsx";
import { useAction } from "../parts/use-action.ts";
import { parseRaise } from "./raise.ts";

interface RaiseDialogProps {
  readonly name: string;
  readonly scope: BudgetScope;
  /** The limit that the box waits for; the fields begin with the least that it needs. */
  readonly obstacle: BudgetObstacle | undefined;
  readonly onClose: () => void;
}

export function RaiseDialog({ name, scope, obstacle, onClose }: RaiseDialogProps) {
  const needed = (unit: BudgetObstacle["unit"]): number => (obstacle?.unit === unit ? raiseBy(obstacle) : 0);
  const [tokens, setTokens] = useState(needed("tokens") === 0 ? "" : String(needed("tokens")));
  const [usd, setUsd] = useState(
    needed("microUsd") === 0 ? "" : (Math.ceil(needed("microUsd") / 10_000) / 100).toFixed(2),
  );
  const raise = parseRaise(tokens, usd);
  const { run, isBusy, error } = useAction(
    () => client.raiseBudget(name, { scope, ...("problem" in raise ? {} : raise) }),
    {
      done: `Raised the budget of ${name}.`,
      invalidates: [["box", name], ["boxes"]],
      onDone: onClose,
      isQuiet: true,
    },
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
        {obstacle === undefined ? null : <p>{obstacleSentence(obstacle)}</p>}
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

/** Raises what a box waits for, from where that is said. */
export function RaiseButton({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({ ...budgetQuery(name), enabled: isOpen });
  const scope = data?.obstacle?.scope ?? data?.limits[0]?.scope;
  return (
    <>
      <Button kind="primary" aria-label={`Raise the budget: ${name}`} onClick={() => setOpen(true)}>
        Raise
      </Button>
      {isOpen && scope !== undefined ? (
        <RaiseDialog
          name={data?.obstacle?.holder ?? name}
          scope={scope}
          obstacle={data?.obstacle}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}
