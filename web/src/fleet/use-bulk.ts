import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { toAgentBoxError } from "../../../src/base/errors.ts";
import { Turns } from "../../../src/base/turns.ts";
import type { RemovedBox } from "../../../src/contract/review/removed.ts";
import { client } from "../api/client.ts";
import { useSayRemoved } from "../removal/say-removed.ts";
import { useToast } from "../parts/toast.tsx";

export type BulkAction = "start" | "stop" | "restart" | "remove";

const acts: Readonly<Record<BulkAction, (name: string) => Promise<unknown>>> = {
  start: (name) => client.startBox(name),
  stop: (name) => client.stopBox(name),
  restart: (name) => client.restartBox(name),
  remove: (name) => client.removeBox(name, { force: true }),
};
const dones: Readonly<Record<BulkAction, string>> = {
  start: "Started",
  stop: "Stopped",
  restart: "Restarted",
  remove: "Removed",
};

const removedIn = (answer: unknown): RemovedBox[] => {
  const { removed } = answer as { removed?: RemovedBox };
  return removed === undefined ? [] : [removed];
};

/** A few at a time, so that one click does not ask the daemon for everything at once. */
const atATime = 4;

/** The same for many boxes; one failure does not stop the others, and is shown with the box's name. */
export function useBulk(): {
  isBusy: boolean;
  run: (action: BulkAction, names: readonly string[]) => Promise<void>;
} {
  const toast = useToast();
  const sayRemoved = useSayRemoved();
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const run = useCallback(
    async (action: BulkAction, names: readonly string[]) => {
      if (names.length === 0) return;
      setBusy(true);
      const turns = new Turns(atATime);
      const failures: string[] = [];
      const removed: RemovedBox[] = [];
      await Promise.all(
        names.map((name) =>
          turns
            .run(async () => {
              const answer = await acts[action](name);
              if (action === "remove") removed.push(...removedIn(answer));
            })
            .catch((error: unknown) => void failures.push(`${name}: ${toAgentBoxError(error).message}`)),
        ),
      );
      setBusy(false);
      const good = names.length - failures.length;
      const what = names.length === 1 ? names[0] : `${good} of ${names.length} boxes`;
      if (good > 0 && action === "remove") sayRemoved(`Removed ${what}.`, removed);
      else if (good > 0) toast(`${dones[action]}: ${what}.`, "good");
      if (failures.length > 0) toast(failures.slice(0, 3).join(" "), "bad");
      void queries.invalidateQueries({ queryKey: ["boxes"] });
    },
    [toast, sayRemoved, queries],
  );
  return { isBusy, run };
}
