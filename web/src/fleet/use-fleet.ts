/** The state of the page: boxes and their needs, the filter, the keyboard's position and the selection. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useDeferredValue, useMemo, useState } from "react";
import { boxesQuery } from "../api/queries.ts";
import { arrange, countStates } from "./arrange.ts";
import { useNeeds } from "../inbox/needs.tsx";
import { useChoices } from "./use-choices.ts";

/** Events tell what happens in boxes; what they use of the host changes without one. */
const samplesEveryMs = 5_000;

const unique = (values: readonly (string | undefined)[]): string[] =>
  [...new Set(values.filter((value) => value !== undefined))].sort();

export function useFleet() {
  const list = useQuery({ ...boxesQuery, refetchInterval: samplesEveryMs });
  const { needs } = useNeeds();
  const [choices, choose] = useChoices();
  const boxes = useMemo(() => list.data ?? [], [list.data]);
  // Typing stays quick while the list follows.
  const wish = useDeferredValue(choices);
  const groups = useMemo(() => arrange(boxes, wish), [boxes, wish]);
  const shown = useMemo(() => groups.flatMap((group) => group.boxes), [groups]);
  const counts = useMemo(() => countStates(boxes), [boxes]);
  const agents = useMemo(() => unique(boxes.map(({ agent }) => agent)), [boxes]);
  const projects = useMemo(() => unique(boxes.map(({ projectDir }) => projectDir)), [boxes]);
  return {
    list,
    isPending: list.isPending,
    boxes,
    groups,
    shown,
    needs,
    counts,
    agents,
    projects,
    choices,
    choose,
  };
}

/** The box the keyboard is at, and those that are marked. Boxes that are gone are neither. */
export function useCursor(
  shown: readonly { readonly name: string }[],
  all: readonly { readonly name: string }[],
) {
  const [current, setCurrent] = useState<string>();
  const [moves, setMoves] = useState(0);
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const selected = useMemo(() => {
    const names = new Set(all.map(({ name }) => name));
    return new Set([...marked].filter((name) => names.has(name)));
  }, [marked, all]);
  const move = (steps: number) => {
    if (shown.length === 0) return;
    const at = shown.findIndex(({ name }) => name === current);
    const next = at < 0 ? 0 : Math.min(Math.max(at + steps, 0), shown.length - 1);
    setCurrent(shown[next]?.name);
    setMoves((count) => count + 1);
  };
  const toggle = useCallback((name: string) => {
    setMarked((now) => {
      const next = new Set(now);
      if (!next.delete(name)) next.add(name);
      return next;
    });
  }, []);
  const select = useCallback((names: readonly string[]) => setMarked(new Set(names)), []);
  const isShown = shown.some(({ name }) => name === current);
  return { current: isShown ? current : undefined, setCurrent, moves, move, selected, toggle, select };
}
