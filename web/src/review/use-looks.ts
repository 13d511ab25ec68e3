/** The kinds of danger that a person has looked at, one look for each kind, as the daemon accepts it. */
import { useCallback, useMemo, useState } from "react";
import type { Danger, DangerKind } from "../../../src/contract/review/danger.ts";

export interface Looks {
  readonly looked: (kind: DangerKind) => boolean;
  readonly setLooked: (kind: DangerKind, isLooked: boolean) => void;
  /** Kinds of these dangers that were looked at. */
  readonly kinds: ReadonlySet<DangerKind>;
}

export function useLooks(dangers: readonly Danger[]): Looks {
  const [marks, setMarks] = useState<ReadonlySet<DangerKind>>(new Set());
  const kinds = useMemo(
    () => new Set(dangers.map(({ kind }) => kind).filter((kind) => marks.has(kind))),
    [dangers, marks],
  );
  const looked = useCallback((kind: DangerKind) => kinds.has(kind), [kinds]);
  const setLooked = useCallback((kind: DangerKind, isLooked: boolean) => {
    setMarks((now) => new Set(isLooked ? [...now, kind] : [...now].filter((one) => one !== kind)));
  }, []);
  return { looked, setLooked, kinds };
}
