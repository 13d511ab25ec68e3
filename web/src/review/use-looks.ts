/**
 * The dangers that a person has marked as looked at. One mark is for a kind of danger, as the daemon accepts it. It is
 * kept on the host, for this person and this content, so that it is still there after a reload.
 */
import { useCallback, useMemo, useState } from "react";
import type { DangerKind } from "../../../src/contract/review/danger.ts";
import type { Review } from "../../../src/contract/review/review.ts";
import { client } from "../api/client.ts";
import { useAction } from "../parts/use-action.ts";

export interface Looks {
  readonly setLooked: (kind: DangerKind, isLooked: boolean) => void;
  /** Kinds of these dangers that were looked at. */
  readonly kinds: ReadonlySet<DangerKind>;
}

export function useLooks({ box, dangers, looks = [] }: Review, mayKeep: boolean): Looks {
  const [marks, setMarks] = useState<ReadonlySet<DangerKind>>(
    () => new Set(looks.filter(({ isLooked }) => isLooked).map(({ kind }) => kind)),
  );
  const kinds = useMemo(
    () => new Set(dangers.map(({ kind }) => kind).filter((kind) => marks.has(kind))),
    [dangers, marks],
  );
  const { run: keep } = useAction((look: { kind: DangerKind; content: string; isLooked: boolean }) =>
    client.noteDangerLook(box, look),
  );
  const setLooked = useCallback(
    (kind: DangerKind, isLooked: boolean) => {
      setMarks((now) => new Set(isLooked ? [...now, kind] : [...now].filter((one) => one !== kind)));
      const content = looks.find((one) => one.kind === kind)?.content;
      if (mayKeep && content !== undefined) keep({ kind, content, isLooked });
    },
    [looks, mayKeep, keep],
  );
  return { setLooked, kinds };
}
