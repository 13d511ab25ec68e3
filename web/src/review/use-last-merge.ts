import { useQuery } from "@tanstack/react-query";
import { client } from "../api/client.ts";

/** The latest merge of a box that has not been taken back, as the log tells it. */
export const useLastMerge = (box: string): number | undefined =>
  useQuery({
    queryKey: ["review", box, "merge"],
    queryFn: async () => {
      const newest = { limit: 100, order: "newest" } as const;
      const [merged, undone] = await Promise.all([
        client.listEvents({ box, type: "work.merged", ...newest }),
        client.listEvents({ type: "work.undone", ...newest }),
      ]);
      const back = new Set(undone.events.map(({ data }) => data["merge"]));
      const last = merged.events.find(({ data }) => !back.has(data["merge"]));
      return typeof last?.data["merge"] === "number" ? last.data["merge"] : null;
    },
  }).data ?? undefined;
