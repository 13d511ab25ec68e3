/** Ctrl-K: every page and every box by a few letters. */
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { boxesQuery } from "../api/queries.ts";
import { boxWord } from "../parts/badge.tsx";
import { Visible } from "../parts/visible.tsx";
import { navigation } from "./navigation.ts";
import { rank } from "./rank.ts";

interface Target {
  readonly label: string;
  readonly detail: string;
  /** Found by, besides the label. */
  readonly task?: string | undefined;
  readonly to: string;
}

const tabs = ["terminal", "review", "timeline", "network", "files"] as const;
const most = 12;

function useTargets(): readonly Target[] {
  const boxes = useQuery(boxesQuery).data;
  return useMemo(() => {
    const pages = navigation.map(({ label, to }) => ({ label, detail: "page", to }));
    const views = (boxes ?? []).flatMap((box) => {
      const to = `/box/${box.name}`;
      const own: Target = { label: box.name, detail: box.task ?? boxWord(box), task: box.task, to };
      return [
        own,
        ...tabs.map((tab) => ({
          label: `${box.name} ${tab}`,
          detail: tab,
          task: box.task,
          to: `${to}/${tab}`,
        })),
      ];
    });
    return [...pages, ...views];
  }, [boxes]);
}

const find = (targets: readonly Target[], text: string): readonly Target[] =>
  rank(
    targets,
    text,
    ({ label }) => label,
    ({ task = "" }) => task,
  );

export function Palette({ isOpen, setOpen }: { isOpen: boolean; setOpen: (isOpen: boolean) => void }) {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [setOpen]);
  return isOpen ? <OpenPalette onClose={() => setOpen(false)} /> : null;
}

function OpenPalette({ onClose }: { onClose: () => void }) {
  const router = useRouter();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const targets = useTargets();
  const found = useMemo(() => find(targets, text).slice(0, most), [targets, text]);
  useEffect(() => dialog.current?.showModal(), []);
  const go = (target: Target | undefined) => {
    if (!target) return;
    onClose();
    void router.navigate({ to: target.to });
  };
  const move = (by: number) => setChosen((now) => (now + by + found.length) % Math.max(1, found.length));
  return (
    <dialog ref={dialog} className="parts-dialog app-palette" aria-label="Go to" onClose={onClose}>
      <input
        className="parts-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${chosen}` : undefined}
        aria-label="Go to a page or a box"
        placeholder="Page or box"
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") move(1);
          else if (event.key === "ArrowUp") move(-1);
          else if (event.key === "Enter") go(found[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      {/* oxlint-disable-next-line jsx-a11y/prefer-tag-over-role, jsx-a11y/no-noninteractive-element-to-interactive-role -- a select has no field to type in; these are the roles of a combobox */}
      <ul id="palette-list" role="listbox" aria-label="Found">
        {found.map((target, index) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys of the field above choose and open
          <li
            key={target.to}
            id={`palette-${index}`}
            // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role, jsx-a11y/no-noninteractive-element-to-interactive-role -- likewise
            role="option"
            aria-selected={index === chosen}
            onClick={() => go(target)}
            onMouseMove={() => setChosen(index)}
          >
            <span>{target.label}</span>
            <span className="app-palette-detail quiet small">
              <Visible text={target.detail} />
            </span>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p className="app-palette-none quiet">No page or box found.</p> : null}
    </dialog>
  );
}
