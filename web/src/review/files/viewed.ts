/** Which files a person has looked at, by content: one that changes again is not looked at any more. */
import { useCallback, useState } from "react";
import type { Change } from "../../../../src/contract/review/change.ts";

const storageKey = "agentbox-viewed";
const maxBoxes = 20;
const maxFiles = 10_000;

type Marks = Readonly<Record<string, string>>;

function readAll(): [box: string, marks: Marks][] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(storageKey) ?? "[]");
    return Array.isArray(all) ? (all as [string, Marks][]) : [];
  } catch {
    return [];
  }
}

function keep(box: string, marks: Marks): void {
  const others = readAll().filter(([name]) => name !== box);
  const own = Object.fromEntries(Object.entries(marks).slice(-maxFiles));
  try {
    localStorage.setItem(storageKey, JSON.stringify([...others.slice(1 - maxBoxes), [box, own]]));
  } catch {
    // No room: the marks last as long as the page.
  }
}

const contentOf = ({ oldId, newId, newMode }: Change) =>
  `${oldId.slice(0, 12)}-${newId.slice(0, 12)}-${newMode}`;

export function useViewed(box: string): {
  isViewed: (change: Change) => boolean;
  setViewed: (change: Change, isViewed: boolean) => void;
} {
  const [marks, setMarks] = useState<Marks>(
    () => readAll().find(([name]) => name === box)?.[1] ?? Object.create(null),
  );
  const isViewed = useCallback(
    (change: Change) => Object.hasOwn(marks, change.path) && marks[change.path] === contentOf(change),
    [marks],
  );
  const setViewed = useCallback(
    (change: Change, viewed: boolean) => {
      const { [change.path]: _, ...rest } = marks;
      const next = viewed ? { ...rest, [change.path]: contentOf(change) } : rest;
      setMarks(next);
      keep(box, next);
    },
    [box, marks],
  );
  return { isViewed, setViewed };
}
