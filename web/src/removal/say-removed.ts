import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { toAgentBoxError } from "../../../src/base/errors.ts";
import type { RemovedBox } from "../../../src/contract/review/removed.ts";
import { client } from "../api/client.ts";
import { useToast } from "../parts/toast.tsx";

export const removedKey = ["removed"];

/** Says that boxes are removed, with the way back for those that have one. */
export function useSayRemoved(): (text: string, removed: readonly (RemovedBox | undefined)[]) => void {
  const toast = useToast();
  const queries = useQueryClient();
  return useCallback(
    (text, removed) => {
      const back = removed.filter((one) => one !== undefined);
      const refresh = (): void => {
        void queries.invalidateQueries({ queryKey: removedKey });
        void queries.invalidateQueries({ queryKey: ["boxes"] });
      };
      const undo = async (): Promise<void> => {
        const names: string[] = [];
        try {
          for (const { id } of back) names.push((await client.restoreRemoved(id)).box.name);
          toast(`Restored ${names.join(", ")}.`, "good");
        } catch (error) {
          toast(toAgentBoxError(error).message, "bad");
        }
        refresh();
      };
      toast(text, "good", back.length === 0 ? undefined : { label: "Undo", run: undo });
      refresh();
    },
    [toast, queries],
  );
}
