/** How a person likes their diffs, kept in the browser. */
import { useEffect, useState } from "react";

const place = "agentbox-diff";
/** Below this two columns of code are too narrow to read. */
const narrow = "(max-width: 899px)";

export interface Layout {
  readonly isSplit: boolean;
  readonly isTree: boolean;
}

function read(): Layout {
  const words = localStorage.getItem(place) ?? "";
  return { isSplit: words.includes("split"), isTree: !words.includes("flat") };
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
    isNarrow,
    change(part) {
      const next = { ...layout, ...part };
      setLayout(next);
      localStorage.setItem(place, `${next.isSplit ? "split" : "unified"} ${next.isTree ? "tree" : "flat"}`);
    },
  };
}
