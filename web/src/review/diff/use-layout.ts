/** How a person likes their diffs, kept in the browser. */
import { useEffect, useState } from "react";

const storageKey = "agentbox-diff";
/** Below this two columns of code are too narrow to read. */
const narrow = "(max-width: 899px)";
/** From here on the list of files leaves the diff enough width. */
const wide = "(min-width: 1500px)";

export interface Layout {
  readonly isSplit: boolean;
  readonly isTree: boolean;
  /** Whether the list of files is there; by default only where it takes no width from the diff. */
  readonly isListOpen: boolean;
}

function read(): Layout {
  const words = (localStorage.getItem(storageKey) ?? "").split(" ");
  return {
    isSplit: words.includes("split"),
    isTree: !words.includes("flat"),
    isListOpen: words.includes("list") || (!words.includes("no-list") && matchMedia(wide).matches),
  };
}

export function useLayout(): Layout & {
  readonly isNarrow: boolean;
  readonly change: (layout: Partial<Layout>) => void;
} {
  const [layout, setLayout] = useState(read);
  const [isNarrow, setNarrow] = useState(() => matchMedia(narrow).matches);
  useEffect(() => {
    const query = matchMedia(narrow);
    const listen = () => setNarrow(query.matches);
    query.addEventListener("change", listen);
    return () => query.removeEventListener("change", listen);
  }, []);
  return {
    isSplit: layout.isSplit && !isNarrow,
    isTree: layout.isTree,
    isListOpen: layout.isListOpen,
    isNarrow,
    change(part) {
      const next = { ...layout, ...part };
      setLayout(next);
      const list = part.isListOpen === undefined ? keptList() : next.isListOpen ? "list" : "no-list";
      const words = [next.isSplit ? "split" : "unified", next.isTree ? "tree" : "flat", list];
      localStorage.setItem(storageKey, words.join(" ").trimEnd());
    },
  };
}

/** A choice of another switch does not fix the list at the width of this screen. */
const keptList = (): string =>
  (localStorage.getItem(storageKey) ?? "").split(" ").find((word) => word === "list" || word === "no-list") ??
  "";
