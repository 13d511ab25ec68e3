/** The vault: secrets, who may use them, where they went. No value is ever on this page but while it is typed. */
import { useQueries } from "@tanstack/react-query";
import { useMay } from "../api/me.ts";
import { Empty, PageHeader, Skeleton } from "../parts/note.tsx";
import { Connections } from "./connections.tsx";
import { Receipts } from "./receipts.tsx";
import { Secrets } from "./secrets.tsx";
import { Status } from "./status.tsx";
import { connectionPresetsQuery, receiptsQuery, secretsQuery, vaultQuery } from "./vault-queries.ts";

export function VaultPage() {
  const may = useMay("secrets");
  return (
    <div className="parts-stack">
      <PageHeader title="Vault" />
      {may ? <Parts /> : <Empty title="You cannot see the vault" />}
    </div>
  );
}

/** All at once, so that nothing moves when one part is longer than the place that was held for it. */
function Parts() {
  const answers = useQueries({
    queries: [vaultQuery, secretsQuery, connectionPresetsQuery, receiptsQuery({ name: "", box: "" })],
  });
  if (answers.some(({ isPending }) => isPending)) return <Skeleton height={640} />;
  return (
    <>
      <Status />
      <Secrets />
      <Receipts />
      <Connections />
    </>
  );
}
