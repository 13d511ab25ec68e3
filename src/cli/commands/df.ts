import { formatBytes } from "../../base/bytes.ts";
import type { DiskAnswer } from "../../contract/api/schemas/storage.ts";
import type { RunCommand } from "../command.ts";
import { withProgress } from "../render/progress.ts";
import { renderTable } from "../render/table.ts";

export const run: RunCommand = async ({ screen, connect }) => {
  const client = await connect();
  const disk = await withProgress(screen, "Counting", () => client.getDisk());
  if (screen.isJson) screen.printJson(disk);
  else screen.print(renderDisk(disk));
  return 0;
};

const size = (bytes: number | null): string => (bytes === null ? "?" : formatBytes(bytes));

export function renderDisk({ boxes, shared, totalBytes, prunableBytes, freeBytes }: DiskAnswer): string {
  const rows = boxes.map(({ name, phase, bytes, totalBytes: total }) => [
    name,
    phase,
    ...[bytes.home, bytes.caches, bytes.workspace, bytes.logs, bytes.review].map(size),
    size(total),
  ]);
  const parts = [
    ...(rows.length === 0
      ? []
      : [
          renderTable([["BOX", "PHASE", "HOME", "CACHES", "WORKSPACE", "LOGS", "REVIEW", "TOTAL"], ...rows]),
          "",
        ]),
    renderTable([["SHARED", "SIZE"], ...shared.map(({ name, bytes }) => [name, size(bytes)])]),
    "",
    `${formatBytes(totalBytes)} in all, ${formatBytes(freeBytes)} free.`,
  ];
  if (prunableBytes > 0) parts.push(`agentbox prune would free ${formatBytes(prunableBytes)}.`);
  return parts.join("\n");
}
