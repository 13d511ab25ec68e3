import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { Change } from "../../../../src/contract/review/change.ts";
import { Icon } from "../../parts/icon.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Lines } from "../diff/diff-rows.tsx";
import type { TreeLine } from "./file-tree.ts";

interface FileListProps {
  lines: readonly TreeLine[];
  current: string | undefined;
  closed: ReadonlySet<string>;
  dangerous: ReadonlySet<string>;
  isViewed: (change: Change) => boolean;
  onOpen: (change: Change) => void;
  onToggle: (folder: string) => void;
}

const lineHeight = 30;
const step = 14;

export function FileList({ lines, current, closed, dangerous, isViewed, onOpen, onToggle }: FileListProps) {
  const scroller = useRef<HTMLElement>(null);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 10,
  });
  useEffect(() => {
    const index = lines.findIndex((line) => line.type === "file" && line.change.path === current);
    if (index >= 0) virtualizer.scrollToIndex(index, { align: "auto" });
  }, [current, lines, virtualizer]);
  return (
    <nav
      ref={scroller}
      className="review-files"
      style={{ height: virtualizer.getTotalSize() + 2 }}
      aria-label="Changed files"
    >
      <ul className="review-files-rows" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const line = lines[index]!;
          const indent = { paddingLeft: 8 + Math.min(line.depth, 12) * step };
          return (
            <li
              key={line.type === "file" ? line.change.path : `${line.path}/`}
              className="review-files-row"
              style={{ transform: `translateY(${start}px)`, height: lineHeight }}
            >
              {line.type === "folder" ? (
                <button
                  type="button"
                  className="review-files-line"
                  style={indent}
                  aria-expanded={!closed.has(line.path)}
                  onClick={() => onToggle(line.path)}
                >
                  <Icon name="folder" />
                  <span className="review-files-name">
                    <Visible text={line.name} />
                  </span>
                </button>
              ) : (
                <button
                  type="button"
                  className="review-files-line"
                  style={indent}
                  aria-current={line.change.path === current}
                  onClick={() => onOpen(line.change)}
                >
                  <Icon
                    name={
                      dangerous.has(line.change.path) ? "warning" : isViewed(line.change) ? "check" : "file"
                    }
                  />
                  <span className={`review-files-name review-kind-${line.change.kind}`}>
                    <Visible text={line.name} />
                  </span>
                  {dangerous.has(line.change.path) ? (
                    <span className="visually-hidden">dangerous</span>
                  ) : null}
                  {isViewed(line.change) ? <span className="visually-hidden">viewed</span> : null}
                  <Lines added={line.change.added} deleted={line.change.deleted} />
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
