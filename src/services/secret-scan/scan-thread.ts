/**
 * The thread that scans. Imported in the daemon only for `threadFile`, its own place in the build; in the thread it
 * answers each batch with findings, or with `undefined` when the scan failed.
 */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import type { SecretFinding } from "../../ports/secret-scan.ts";

export const threadFile = import.meta.url;
export const threadRole = "agentbox-secret-scan";

export interface Batch {
  readonly fileName: string;
  readonly texts: readonly string[];
}

/** Of one batch; the messages of an error could quote the text, so none crosses over. */
export type BatchResult = readonly (readonly SecretFinding[])[] | undefined;

if (!isMainThread && parentPort && workerData === threadRole) {
  const port = parentPort;
  const [{ scanBatch }, { findSecrets }] = await Promise.all([
    import("./scan-batch.ts"),
    import("./find-secrets.ts"),
  ]);
  port.on("message", ({ texts, fileName }: Batch) => {
    scanBatch(texts, fileName, findSecrets).then(
      (result: BatchResult) => port.postMessage(result),
      () => port.postMessage(undefined),
    );
  });
}
