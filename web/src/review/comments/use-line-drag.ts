/** Lines chosen by pressing on a number and dragging over others; the release opens the form. */
import { useCallback, useEffect, useRef, useState } from "react";
import { rangeBetween } from "../diff/use-reading.ts";
import type { CommentRange } from "./comments.tsx";

interface Lines {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

export function useLineDrag(onChosen: (range: CommentRange) => void) {
  const [lines, setLines] = useState<Lines>();
  const latest = useRef<Lines>(undefined);
  latest.current = lines;
  const beginLines = useCallback(
    (path: string, line: number) => setLines({ path, from: line, to: line }),
    [],
  );
  const extendLines = useCallback((path: string, line: number) => {
    if (latest.current?.path === path && latest.current.to !== line)
      setLines({ ...latest.current, to: line });
  }, []);
  const isDragging = lines !== undefined;
  useEffect(() => {
    if (!isDragging) return undefined;
    const finish = () => {
      if (latest.current !== undefined) onChosen(rangeBetween(latest.current));
      setLines(undefined);
    };
    const stop = () => setLines(undefined);
    addEventListener("pointerup", finish, { once: true });
    addEventListener("pointercancel", stop, { once: true });
    return () => {
      removeEventListener("pointerup", finish);
      removeEventListener("pointercancel", stop);
    };
  }, [isDragging, onChosen]);
  return { dragged: lines === undefined ? undefined : rangeBetween(lines), beginLines, extendLines };
}
