/** Where a person is in a diff: the file, the line, what is folded, and what they are writing. */
import { useCallback, useState } from "react";
import type { CommentRange } from "../comments/comments.tsx";
import { omitUndefined } from "../../../../src/base/omit-undefined.ts";
import type { Change } from "../../../../src/contract/review/change.ts";
import type { Target } from "./diff-view.tsx";
import { type Row, newLineOf } from "./rows.ts";

const isLine = (row: Row) => row.type === "line" || row.type === "pair";

export function useReading(folds: () => Iterable<string>) {
  const [current, setCurrent] = useState<string>();
  const [target, setTarget] = useState<Target>();
  const [cursor, setCursor] = useState<string>();
  const [form, setForm] = useState<CommentRange>();
  /** Lines that were chosen with Shift and the arrow keys, from the first one on. */
  const [chosen, setChosen] = useState<{
    readonly path: string;
    readonly from: number;
    readonly to: number;
  }>();
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => new Set(folds()));

  const fold = useCallback(({ path }: Change, isFolded: boolean) => {
    setFolded((now) => {
      const next = new Set(now);
      if (isFolded) next.add(path);
      else next.delete(path);
      return next;
    });
  }, []);
  const go = useCallback((path: string, row?: Pick<Target, "line" | "key">) => {
    setCurrent(path);
    setCursor(row?.key);
    if (row !== undefined)
      setFolded((now) => (now.has(path) ? new Set([...now].filter((one) => one !== path)) : now));
    setTarget({ path, ...row });
  }, []);
  const arrive = useCallback(() => setTarget(undefined), []);

  return {
    current,
    setCurrent,
    target,
    go,
    arrive,
    cursor,
    form,
    setForm,
    folded,
    fold,
    /** The next file, or the one before. */
    stepFile(files: readonly Change[], by: 1 | -1) {
      const at = files.findIndex(({ path }) => path === current);
      const next = files[at === -1 ? 0 : Math.min(Math.max(at + by, 0), files.length - 1)];
      if (next !== undefined) go(next.path);
    },
    chosen: chosen === undefined ? undefined : rangeBetween(chosen),
    stepLine(rows: readonly Row[], by: 1 | -1, isExtending = false) {
      const from = rows.findIndex((row) =>
        cursor === undefined ? row.change.path === current || current === undefined : row.key === cursor,
      );
      for (let at = from + by; at >= 0 && at < rows.length; at += by) {
        const row = rows[at]!;
        if (!isLine(row)) continue;
        const [here, line] = [rows[from], newLineOf(row)];
        const start = here === undefined ? undefined : newLineOf(here);
        if (!isExtending) setChosen(undefined);
        else if (line !== undefined && row.change.path === (chosen?.path ?? here?.change.path))
          setChosen({ path: row.change.path, from: chosen?.from ?? start ?? line, to: line });
        setCursor(row.key);
        setCurrent(row.change.path);
        return;
      }
    },
    /** The lines that the key "c" comments on. */
    lineAt(rows: readonly Row[]): CommentRange | undefined {
      if (chosen !== undefined) return rangeBetween(chosen);
      const row = rows.find(({ key }) => key === cursor);
      const path = row?.change.path ?? current ?? rows[0]?.change.path;
      const line = row === undefined ? undefined : newLineOf(row);
      return path === undefined ? undefined : { path, ...omitUndefined({ line }) };
    },
  };
}

export function rangeBetween(lines: { path: string; from: number; to: number }): CommentRange {
  const [line, endLine] = [Math.min(lines.from, lines.to), Math.max(lines.from, lines.to)];
  return { path: lines.path, line, ...(endLine === line ? {} : { endLine }) };
}
