import { queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";

export const vaultQuery = queryOptions({ queryKey: ["vault", "status"], queryFn: () => client.getVault() });
export const secretsQuery = queryOptions({
  queryKey: ["vault", "secrets"],
  queryFn: () => client.listSecrets(),
});
export const connectionPresetsQuery = queryOptions({
  queryKey: ["vault", "presets"],
  queryFn: () => client.listConnectionPresets(),
  staleTime: 600_000,
});
export const receiptsQuery = (filter: { name: string; box: string }) =>
  queryOptions({
    queryKey: ["vault", "receipts", filter.name, filter.box],
    queryFn: () =>
      client.secretAudit({
        ...(filter.name === "" ? {} : { name: filter.name }),
        ...(filter.box === "" ? {} : { box: filter.box }),
        limit: 200,
      }),
    // Uses of a secret are not events; they are polled while the page is open.
    refetchInterval: 10_000,
  });
