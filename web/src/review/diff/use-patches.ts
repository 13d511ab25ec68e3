/** Patches of files, fetched one by one when they come into sight, with a bound on each. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { Change } from "../../../../src/contract/review/change.ts";
import { client } from "../../api/client.ts";
import { parsePatch } from "./patch.ts";
import type { PatchState } from "./rows.ts";

/** Which two states are compared; always two that are kept, so that all patches are of one moment. */
export interface PatchRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly against?: string | undefined;
}

const maxBytes = 32 << 20;
const defaultContext = 3;

export interface Patches {
  readonly patches: ReadonlyMap<string, PatchState>;
  /** Does nothing for a file that is here or on its way, unless more lines around are wanted. */
  readonly load: (change: Change, context?: number) => void;
  /** How many lines around each change were asked for. */
  readonly contextOf: (change: Change) => number;
}

export function usePatches(box: string, range: PatchRange, identity: string): Patches {
  const [patches, setPatches] = useState<ReadonlyMap<string, PatchState>>(new Map());
  const asked = useRef(new Map<string, number>());
  const current = useRef(identity);
  useEffect(() => {
    if (current.current === identity) return;
    current.current = identity;
    asked.current = new Map();
    setPatches(new Map());
  }, [identity]);
  const { from, to, against } = range;
  const load = useCallback(
    (change: Change, context = defaultContext) => {
      const { path } = change;
      if ((asked.current.get(path) ?? -1) >= context) return;
      const isMore = asked.current.has(path);
      asked.current.set(path, context);
      const put = (state: PatchState) => {
        if (current.current !== identity) return;
        setPatches((now) => new Map(now).set(path, state));
      };
      // Lines that are shown stay until there are more.
      if (!isMore) put({ state: "loading" });
      fetchPatch(box, { from, to, against }, change, context).then(put, (error: unknown) => {
        asked.current.delete(path);
        put({ state: "failed", error });
      });
    },
    [box, from, to, against, identity],
  );
  const contextOf = useCallback(({ path }: Change) => asked.current.get(path) ?? defaultContext, []);
  return { patches, load, contextOf };
}

async function fetchPatch(
  box: string,
  range: PatchRange,
  { path, oldPath, rawPath }: Change,
  context: number,
): Promise<PatchState> {
  // Bytes that are no text cannot be asked for by name.
  if (rawPath !== undefined) return { state: "ready", files: [], isCut: true };
  const chunks = await client.getPatch(box, { ...range, path, oldPath, context });
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    parts.push(decoder.decode(chunk, { stream: true }));
    bytes += chunk.length;
    if (bytes > maxBytes) break;
  }
  const { files, isCut } = parsePatch(parts.join(""));
  return { state: "ready", files, isCut: isCut || bytes > maxBytes };
}
