import { formatBytes } from "../../base/bytes.ts";
import { formatDuration } from "../../base/duration.ts";
import { isAgentBoxError } from "../../base/errors.ts";
import type { Client } from "../../client/index.ts";
import type { BoxStats } from "../../contract/api/schemas.ts";
import type { RunCommand } from "../command.ts";
import { renderTable } from "../render/table.ts";

const everyMs = 2_000;

export const run: RunCommand = async ({ args, screen, connect }) => {
  const client = await connect();
  let before: readonly BoxStats[] = [];
  for (;;) {
    const stats = await readStats(client, args.positionals);
    if (screen.isJson) {
      if (args.isSet("watch")) screen.printJsonLine({ boxes: stats });
      else screen.printJson({ boxes: stats });
    } else {
      // From the top and clear, so that the table stands still while its numbers change.
      if (args.isSet("watch") && screen.streams.stdout.isTTY)
        screen.streams.stdout.write("\u001b[H\u001b[2J");
      screen.print(stats.length === 0 ? "No box is running." : renderStats(stats, before));
    }
    if (!args.isSet("watch")) return 0;
    before = stats;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
};

async function readStats(client: Client, names: readonly string[]): Promise<BoxStats[]> {
  if (names.length > 0) return Promise.all(names.map((name) => client.getStats(name)));
  const running = (await client.listBoxes()).filter(
    (box) => box.phase === "running" || box.phase === "paused",
  );
  const all = await Promise.all(
    running.map((box) =>
      client.getStats(box.name).catch((error: unknown) => {
        // It may have ended since it was listed.
        if (isAgentBoxError(error, "box.not_found") || isAgentBoxError(error, "box.wrong_phase"))
          return undefined;
        throw error;
      }),
    ),
  );
  return all.filter((stats) => stats !== undefined);
}

/** Share of one processor since the last look; total time when there was none. */
function cpuText(now: BoxStats, before: BoxStats | undefined): string {
  if (before === undefined || now.atMs <= before.atMs) return formatDuration(now.cpuMs);
  return `${Math.round((100 * (now.cpuMs - before.cpuMs)) / (now.atMs - before.atMs))} %`;
}

export function renderStats(stats: readonly BoxStats[], before: readonly BoxStats[]): string {
  const rows = stats.map((box) => [
    box.name,
    cpuText(
      box,
      before.find((other) => other.name === box.name),
    ),
    box.memoryLimitBytes === undefined
      ? formatBytes(box.memoryBytes)
      : `${formatBytes(box.memoryBytes)} of ${formatBytes(box.memoryLimitBytes)}`,
    String(box.processes),
    formatBytes(box.diskBytes),
    box.idleMs === undefined ? "-" : formatDuration(box.idleMs),
  ]);
  return renderTable([["NAME", "CPU", "MEMORY", "PROCESSES", "DISK", "IDLE"], ...rows]);
}
