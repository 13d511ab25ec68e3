/** Whether the event log is what was written, and what to note elsewhere so that a cut-off end shows later. */
import type { RouteQuery } from "../../contract/api/routes.ts";
import type { AuditReport } from "../../contract/api/schemas/vault.ts";
import type { Using } from "../using.ts";

export async function verifyAudit(
  core: Using<"egressLog" | "store">,
  { head }: RouteQuery<"verifyAudit">,
): Promise<AuditReport> {
  // The receipts of what boxes did until now belong to it.
  await core.egressLog.flush();
  const chain = await core.ports.store.verifyEvents(head === undefined ? undefined : parseMark(head));
  return { isWhole: chain.brokenAt === undefined, ...chain };
}

/** Its form has been checked with the query. */
function parseMark(mark: string): { id: number; head: string } {
  const colon = mark.indexOf(":");
  return { id: Number(mark.slice(0, colon)), head: mark.slice(colon + 1) };
}
