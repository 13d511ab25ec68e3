import { formatBytes } from "../../base/bytes.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import type { CreatedBox } from "../../contract/api/schemas.ts";
import { memoryDirs } from "../../contract/box-paths.ts";
import type { MemoryUse } from "../../contract/link/messages.ts";
import type { Screen } from "./screen.ts";
import { plural } from "./table.ts";

/** Notes about a new box, on stderr. */
export function showWarnings(
  screen: Screen,
  { leftBehind, warnings }: Pick<CreatedBox, "leftBehind" | "warnings">,
): void {
  const { yellow, dim } = screen.errorStyle;
  for (const warning of warnings) screen.note(`${yellow("warning:")} ${printable(warning)}`);
  if (leftBehind > 0) {
    const verb = leftBehind === 1 ? "was" : "were";
    screen.note(
      `${dim("note:")} ${plural(leftBehind, "uncommitted path")} ${verb} not carried in (use --carry dirty)`,
    );
  }
}

const namedHosts = 3;

/** The denials of a box, and where to look or what to add. `box` is the one that is still there. */
export function showDenied(screen: Screen, hosts: readonly string[], box: string | undefined): void {
  if (hosts.length === 0) return;
  const named = hosts.slice(0, namedHosts).map(printable);
  const rest = hosts.length - named.length;
  const verb = hosts.length === 1 ? "was" : "were";
  const wayOut = box === undefined ? `allow with --allow ${named[0]}` : `agentbox net ${box}`;
  screen.note(
    `${screen.errorStyle.dim("note:")} ${plural(hosts.length, "host")} ${verb} denied (${named.join(", ")}${rest > 0 ? `, ${rest} more` : ""}): ${wayOut}`,
  );
}

/** Programs say "no space left on device" and not where. */
export function showFull(screen: Screen, full: readonly MemoryUse[] = []): void {
  for (const { path, sizeBytes } of full) {
    const key = memoryDirs[path];
    const wayOut =
      key === undefined
        ? "remove what is not needed there, or let the program write to your home"
        : `a new box has more with --set '${key} = "${formatBytes(sizeBytes * 2).replace(" ", "")}"'`;
    screen.note(
      `${screen.errorStyle.dim("note:")} ${path} is full (${formatBytes(sizeBytes)}, in memory): ${wayOut}`,
    );
  }
}

export function showKept(screen: Screen, box: string, why: string): void {
  screen.note(
    `${screen.errorStyle.dim("note:")} kept box ${box}: ${why}; agentbox diff ${box}, agentbox merge ${box}`,
  );
}

/** For a person who gets a terminal in a box: where they are, and the one key they cannot guess. */
export function showEntered(screen: Screen, box: string): void {
  screen.note(screen.errorStyle.dim(`You are in the box ${box}. Leave with ctrl-].`));
}

/** Below what a session has left on the screen, and without the rest of it: the shell's prompt comes next. */
export function startCleanLine({ streams: { stdout } }: Screen): void {
  if (stdout.isTTY) stdout.write("\r\n\u001b[J");
}

/** After leaving a session: how to come back, and what waits for an answer that could not be shown before. */
export async function showLeft(
  screen: Screen,
  client: Pick<Client, "listApprovals">,
  box: string,
): Promise<void> {
  startCleanLine(screen);
  screen.note(`Left ${box} running. Come back with: agentbox attach ${box}`);
  const open = await client.listApprovals().catch(() => []);
  const waiting = open.filter((approval) => approval.box === box).length;
  if (waiting === 0) return;
  const verb = waiting === 1 ? "waits" : "wait";
  screen.note(`${plural(waiting, "question")} about the network ${verb} for you: agentbox approvals --watch`);
}
