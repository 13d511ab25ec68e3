import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FocusEvent, type KeyboardEvent, useRef, useState } from "react";
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";
import { boxesQuery } from "../api/queries.ts";
import { useKeyWords } from "../app/key-help.tsx";
import { StateBadge } from "../parts/badge.tsx";
import { Checkbox } from "../parts/field.tsx";
import { Empty, ErrorNote, Kbd, PageHeader, Skeleton } from "../parts/note.tsx";
import { keepChoice, mostTiles, readChoice, shownBoxes } from "./grid-choice.ts";
import { firstSession, sessionsQuery } from "./sessions.ts";
import { TerminalView } from "./terminal-view.tsx";

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Several terminals side by side. Only the one that has the focus takes keys. */
const keyWords = [
  ["F6", "next terminal"],
  ["Enter", "type in it"],
] as const;

export function TerminalGridPage() {
  useKeyWords(keyWords);
  const { data, error } = useQuery(boxesQuery);
  const [choice, setChoice] = useState(readChoice);
  const [active, setActive] = useState<string>();
  const grid = useRef<HTMLDivElement>(null);
  const running = (data ?? []).filter(({ phase }) => phase === "running");
  const names = running.map(({ name }) => name);
  const shown = shownBoxes(names, choice);

  const choose = (name: string, isChosen: boolean) => {
    const rest = shown.filter((one) => one !== name);
    const next = isChosen ? [...rest, name].slice(-mostTiles) : rest;
    keepChoice(next);
    setChoice(next);
  };
  const tiles = () => [...(grid.current?.querySelectorAll<HTMLElement>(".terminal-tile") ?? [])];
  const move = (event: KeyboardEvent) => {
    const isTyping = event.target instanceof HTMLTextAreaElement;
    const step = event.key === "F6" ? (event.shiftKey ? -1 : 1) : isTyping ? undefined : steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const all = tiles();
    const at = all.findIndex((tile) => tile.contains(document.activeElement));
    all[(at + step + all.length) % all.length]?.focus();
  };

  if (error) return <ErrorNote error={error} />;
  return (
    <div className="terminal-page">
      <PageHeader title="Terminals">
        <p className="quiet small">
          <Kbd>F6</Kbd> next terminal · <Kbd>Enter</Kbd> type in it
        </p>
      </PageHeader>
      {data === undefined ? <Skeleton height={640} label="Loading the boxes" /> : null}
      {data !== undefined && names.length === 0 ? (
        <Empty title="No box is running">
          <p>A terminal appears here for each running box.</p>
        </Empty>
      ) : null}
      {names.length > 0 ? (
        <details className="terminal-choice">
          <summary>
            {shown.length} of {names.length} shown
          </summary>
          <div className="terminal-choice-list">
            {names.map((name) => (
              <Checkbox
                key={name}
                label={name}
                checked={shown.includes(name)}
                onChange={(event) => choose(name, event.currentTarget.checked)}
              />
            ))}
          </div>
        </details>
      ) : null}
      <div className="terminal-grid" ref={grid} onKeyDownCapture={move}>
        {running
          .filter(({ name }) => shown.includes(name))
          .map((box) => (
            <Tile key={box.name} box={box} isActive={active === box.name} onActive={setActive} />
          ))}
      </div>
    </div>
  );
}

interface TileProps {
  box: BoxSummary;
  isActive: boolean;
  onActive: (name: string | undefined) => void;
}

function Tile({ box, isActive, onActive }: TileProps) {
  const { data: sessions, error } = useQuery(sessionsQuery(box.name));
  const session = sessions && firstSession(sessions);
  const tile = useRef<HTMLElement>(null);
  const enter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.target !== tile.current) return;
    event.preventDefault();
    tile.current.querySelector("textarea")?.focus();
  };
  const focused = (event: FocusEvent) => {
    if (event.target instanceof HTMLTextAreaElement) onActive(box.name);
  };
  const left = (event: FocusEvent) => {
    if (event.target instanceof HTMLTextAreaElement) onActive(undefined);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Enter goes into the terminal of the tile that has the focus
    <section
      ref={tile}
      className={`terminal-tile ${isActive ? "terminal-tile-active" : ""}`}
      tabIndex={0}
      aria-label={`${box.name}${isActive ? ", typing" : ""}`}
      onKeyDown={enter}
      onFocus={focused}
      onBlur={left}
    >
      <header className="terminal-tile-head">
        <Link to="/box/$name/terminal" params={{ name: box.name }}>
          {box.name}
        </Link>
        <StateBadge box={box} />
      </header>
      <div className="terminal-tile-body">
        {error ? <ErrorNote error={error} /> : null}
        {session === undefined ? null : (
          <TerminalView box={box.name} session={session} readOnly={!isActive} isCompact />
        )}
      </div>
    </section>
  );
}
