import { useCallback, useState } from "react";
import { type Wish, everything } from "./arrange.ts";

export type View = "cards" | "table";

export interface Choices extends Wish {
  readonly view: View;
}

const storageKey = "agentbox-fleet";
const atFirst: Choices = { ...everything, view: "cards" };

/** Remembers how a person likes the list to look, not their searches. */
function recall(): Choices {
  try {
    const kept = JSON.parse(localStorage.getItem(storageKey) ?? "{}") as Partial<Choices>;
    return {
      ...atFirst,
      view: kept.view === "table" ? "table" : "cards",
      isGrouped: kept.isGrouped === true,
      order:
        kept.order === "name" || kept.order === "newest" || kept.order === "cost" ? kept.order : "attention",
    };
  } catch {
    return atFirst;
  }
}

export function useChoices(): [Choices, (change: Partial<Choices>) => void] {
  const [choices, setChoices] = useState(recall);
  const choose = useCallback((change: Partial<Choices>) => {
    setChoices((now) => {
      const next = { ...now, ...change };
      const { view, isGrouped, order } = next;
      localStorage.setItem(storageKey, JSON.stringify({ view, isGrouped, order }));
      return next;
    });
  }, []);
  return [choices, choose];
}
