/** The vault: secrets, who may use them, where they went. No value is ever on this page but while it is typed. */
import { useMay } from "../api/me.ts";
import { Empty, PageHeader } from "../parts/note.tsx";
import { Connections } from "./connections.tsx";
import { Receipts } from "./receipts.tsx";
import { Secrets } from "./secrets.tsx";
import { Status } from "./status.tsx";

export function VaultPage() {
  const may = useMay("secrets");
  return (
    <div className="parts-stack">
      <PageHeader title="Vault" />
      {may ? (
        <>
          <Status />
          <Secrets />
          <Receipts />
          <Connections />
        </>
      ) : (
        <Empty title="The vault is not yours to see" />
      )}
    </div>
  );
}
