/** Which boxes are shown, in which order and under which heading. Pure, so that 500 of them are arranged in a blink. */
import type { BoxSummary } from "../../../src/contract/api/schemas.ts";
import { type BoxWord, boxWord } from "../parts/badge.tsx";

export type Order = "attention" | "name" | "newest" | "cost";

export interface Wish {
  readonly search: string;
  readonly state: BoxWord | "";
  readonly agent: string;
  readonly project: string;
  readonly order: Order;
  readonly isGrouped: boolean;
}

export const everything: Wish = {
  search: "",
  state: "",
  agent: "",
  project: "",
  order: "attention",
  isGrouped: false,
};

/** Boxes that need a person come first, resting ones last. */
const ranks: Readonly<Record<BoxWord, number>> = {
  "waiting for you": 0,
  stuck: 1,
  failed: 2,
  working: 3,
  starting: 4,
  running: 5,
  idle: 6,
  done: 7,
  paused: 8,
  stopping: 9,
  stopped: 10,
};
export const words = Object.keys(ranks) as readonly BoxWord[];

const byName = (a: BoxSummary, b: BoxSummary) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const orders: Readonly<Record<Order, (a: BoxSummary, b: BoxSummary) => number>> = {
  attention: (a, b) => ranks[boxWord(a)] - ranks[boxWord(b)] || byName(a, b),
  name: byName,
  newest: (a, b) => b.createdAtMs - a.createdAtMs || byName(a, b),
  cost: (a, b) => (b.costMicroUsd ?? 0) - (a.costMicroUsd ?? 0) || byName(a, b),
};

/** Everything about a box that a search looks at. */
const textOf = (box: BoxSummary): string =>
  [box.name, boxWord(box), box.agent, box.runtime, box.repo, box.branch, box.projectDir, box.person]
    .filter((part) => part !== undefined)
    .join(" ")
    .toLowerCase();

/** Every word of the search must be there, in any order. */
function finds(search: string): (box: BoxSummary) => boolean {
  const parts = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (parts.length === 0) return () => true;
  return (box) => {
    const text = textOf(box);
    return parts.every((part) => text.includes(part));
  };
}

/** The words of a name but for the last: `team-app-backend` belongs to team › app. */
export const groupOf = (name: string): readonly string[] => name.split("-").slice(0, -1);

export interface Group {
  readonly path: readonly string[];
  readonly boxes: readonly BoxSummary[];
}

/** One group without a path when groups are off. */
export function arrange(boxes: readonly BoxSummary[], wish: Wish): readonly Group[] {
  const isFound = finds(wish.search);
  const shown = boxes
    .filter(
      (box) =>
        (wish.state === "" || boxWord(box) === wish.state) &&
        (wish.agent === "" || box.agent === wish.agent) &&
        (wish.project === "" || (box.projectDir ?? "") === wish.project) &&
        isFound(box),
    )
    .sort(orders[wish.order]);
  if (!wish.isGrouped) return shown.length === 0 ? [] : [{ path: [], boxes: shown }];
  const groups = new Map<string, BoxSummary[]>();
  for (const box of shown) {
    const key = groupOf(box.name).join("-");
    const group = groups.get(key);
    if (group) group.push(box);
    else groups.set(key, [box]);
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, group]) => ({ path: key === "" ? [] : key.split("-"), boxes: group }));
}

/** How many boxes there are in each state. */
export function countStates(boxes: readonly BoxSummary[]): ReadonlyMap<BoxWord, number> {
  const counts = new Map<BoxWord, number>();
  for (const box of boxes) counts.set(boxWord(box), (counts.get(boxWord(box)) ?? 0) + 1);
  return counts;
}

/** Lines of the list: a heading, or as many boxes as stand beside each other. */
export type Line =
  | { readonly kind: "heading"; readonly group: Group; readonly isClosed: boolean }
  | { readonly kind: "boxes"; readonly boxes: readonly BoxSummary[] };

export const pathKey = ({ path }: Group): string => path.join("-");

export function linesOf(groups: readonly Group[], columns: number, closed: ReadonlySet<string>): Line[] {
  const lines: Line[] = [];
  const hasHeadings = groups.some(({ path }) => path.length > 0);
  for (const group of groups) {
    const isClosed = closed.has(pathKey(group));
    if (hasHeadings) lines.push({ kind: "heading", group, isClosed });
    if (hasHeadings && isClosed) continue;
    for (let first = 0; first < group.boxes.length; first += columns)
      lines.push({ kind: "boxes", boxes: group.boxes.slice(first, first + columns) });
  }
  return lines;
}
