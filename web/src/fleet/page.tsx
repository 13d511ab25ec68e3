/** All boxes: what waits for the person first, then every box as a card or a row, live. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useRef, useState } from "react";
import { useKeyWords } from "../app/key-help.tsx";
import { useKeys } from "../app/keys.ts";
import type { KeyWords } from "../parts/key-list.tsx";
import { client } from "../api/client.ts";
import { useMay } from "../api/me.ts";
import { Count, Money } from "../parts/amount.tsx";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, ErrorNote, Kbd, PageHeader, Skeleton } from "../parts/note.tsx";
import { Visible } from "../parts/visible.tsx";
import { everything } from "./arrange.ts";
import { BoxList } from "./box-list.tsx";
import { WhatIsLost } from "../removal/what-is-lost.tsx";
import { BulkBar, countOf } from "./bulk-bar.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { NeedsYou } from "./needs-you.tsx";
import { Toolbar } from "./toolbar.tsx";
import { type BulkAction, useBulk } from "./use-bulk.ts";
import { useCursor, useFleet } from "./use-fleet.ts";

export function FleetPage() {
  const { list, isPending } = useFleet();
  if (isPending) return <Loading />;
  if (list.data === undefined) return <ErrorNote error={list.error} />;
  return <Fleet />;
}

const Loading = () => (
  <div className="parts-stack">
    <PageHeader title="Boxes" />
    <Skeleton height={52} />
    <Skeleton height={520} label="Loading the boxes" />
  </div>
);

function Fleet() {
  const { boxes, groups, shown, needs, counts, agents, projects, choices, choose } = useFleet();
  const { current, setCurrent, moves, move, selected, toggle, select } = useCursor(shown, boxes);
  const search = useRef<HTMLInputElement>(null);
  const bulk = useBulk();
  const mayWork = useMay("work");
  const [asked, setAsked] = useState<readonly string[]>();
  const onFocus = useCallback((name: string) => setCurrent(name), [setCurrent]);
  const names = [...selected];

  /** The boxes a key acts on: the selected ones, or else the one with the keyboard's focus. */
  const meant = names.length > 0 ? names : current === undefined ? [] : [current];
  const run = async (action: BulkAction, on: readonly string[]) => {
    await bulk.run(action, on);
    if (action === "remove") select([]);
  };
  useFleetKeys({ current, choose, move, toggle, select, shown, search, meant, run, setAsked, mayWork });

  if (boxes.length === 0)
    return (
      <div className="parts-stack">
        <PageHeader title="Boxes" />
        <FirstSteps />
      </div>
    );
  return (
    <div className="parts-stack fleet">
      <PageHeader
        title="Boxes"
        actions={
          mayWork ? (
            <Link
              to="/new"
              search={{ agent: undefined, project: undefined, task: undefined }}
              className="parts-button parts-button-primary"
            >
              <Icon name="plus" />
              New box
            </Link>
          ) : null
        }
      >
        <SpentToday />
      </PageHeader>
      <NeedsYou needs={needs} />
      <Toolbar {...{ choices, choose, total: boxes.length, counts, agents, projects, search }} />
      {shown.length === 0 ? (
        <Empty title="No box matches">
          <Button
            onClick={() => choose({ ...everything, order: choices.order, isGrouped: choices.isGrouped })}
          >
            Show all {boxes.length}
          </Button>
        </Empty>
      ) : (
        <BoxList {...{ groups, view: choices.view, selected, current, moves, onSelect: toggle, onFocus }} />
      )}
      <p className="visually-hidden">
        <output>
          {shown.length} of {boxes.length} boxes shown
        </output>
      </p>
      <KeyLine />
      <BulkBar
        names={names}
        isBusy={bulk.isBusy}
        onRun={(action) => run(action, names)}
        onClear={() => select([])}
      />
      <RemoveQuestion
        names={asked}
        onClose={() => setAsked(undefined)}
        onRemove={(on) => void run("remove", on)}
      />
    </div>
  );
}

const startOfToday = (): number => new Date().setHours(0, 0, 0, 0);

/** Tokens and cost since midnight, and the box that spent most of it. The line has its place before it is known. */
function SpentToday() {
  const { data } = useQuery({
    queryKey: ["usage", "today", startOfToday()],
    queryFn: () => client.getUsage({ from: startOfToday(), by: "box" }),
  });
  if (data === undefined) return <p className="fleet-today" aria-hidden="true" />;
  const { usage, costMicroUsd } = data.totals;
  const [top] = data.groups;
  const hasTop = top !== undefined && data.groups.length > 1;
  return (
    <p className="fleet-today quiet">
      {usage.input + usage.output === 0 ? (
        "Nothing spent today"
      ) : (
        <>
          Today: <Money microUsd={costMicroUsd} />, <Count n={usage.input + usage.output} /> tokens
          {hasTop ? (
            <>
              . Most: <Visible text={top.key} />, <Money microUsd={top.totals.costMicroUsd} />
            </>
          ) : null}
        </>
      )}
    </p>
  );
}

interface FleetKeys
  extends Pick<ReturnType<typeof useCursor>, "current" | "move" | "toggle" | "select">,
    Pick<ReturnType<typeof useFleet>, "choose" | "shown"> {
  readonly search: React.RefObject<HTMLInputElement | null>;
  readonly meant: readonly string[];
  readonly run: (action: BulkAction, on: readonly string[]) => Promise<void>;
  readonly setAsked: (names: readonly string[]) => void;
  readonly mayWork: boolean;
}

function useFleetKeys(keys: FleetKeys): void {
  const { current, choose, move, toggle, select, shown, search, meant, run, setAsked, mayWork } = keys;
  const navigate = useNavigate();
  const act = (action: BulkAction) => () => {
    if (!mayWork || meant.length === 0) return;
    void run(action, meant);
  };
  useKeyWords(keyWords);
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    "/": () => search.current?.focus(),
    x: () => current !== undefined && toggle(current),
    a: () => select(shown.map(({ name }) => name)),
    Escape: () => select([]),
    Enter: () => current !== undefined && void navigate({ to: "/box/$name", params: { name: current } }),
    t: () => current !== undefined && void navigate({ to: "/box/$name/terminal", params: { name: current } }),
    v: () => choose({ view: document.querySelector(".fleet-list-cards") ? "table" : "cards" }),
    s: act("stop"),
    u: act("start"),
    r: act("restart"),
    d: () => mayWork && meant.length > 0 && setAsked(meant),
  });
}

const keyWords: KeyWords = [
  ["j k", "move"],
  ["Enter", "open"],
  ["t", "terminal"],
  ["/", "search"],
  ["x", "select"],
  ["a", "select all"],
  ["u", "start"],
  ["s", "stop"],
  ["r", "restart"],
  ["d", "remove"],
  ["v", "cards or table"],
];

const KeyLine = () => (
  <p className="fleet-keys small quiet" aria-label="Keys">
    {keyWords.map(([key, what]) => (
      <span key={key}>
        <Kbd>{key}</Kbd> {what}
      </span>
    ))}
  </p>
);

function RemoveQuestion({
  names,
  onClose,
  onRemove,
}: {
  names: readonly string[] | undefined;
  onClose: () => void;
  onRemove: (names: readonly string[]) => void;
}) {
  return (
    <Dialog
      title={`Remove ${countOf(names ?? [])}?`}
      isOpen={names !== undefined}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="danger"
            onClick={() => {
              onClose();
              onRemove(names ?? []);
            }}
          >
            Remove
          </Button>
        </>
      }
    >
      <WhatIsLost names={names ?? []} />
    </Dialog>
  );
}
