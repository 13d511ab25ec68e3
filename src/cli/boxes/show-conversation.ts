/** The conversation of a box as text or as JSON lines, and on with what happens while one looks. */
import type { Client } from "../../client/index.ts";
import type { Box } from "../../contract/box.ts";
import type { ConversationEntry } from "../../contract/conversation.ts";
import type { CommandContext } from "../command.ts";
import { renderEntry } from "../render/conversation.ts";
import { showTerminalText } from "../terminal/show-log.ts";

interface Wanted {
  readonly box: Box;
  readonly tail: number | undefined;
  readonly isFollowed: boolean;
}

/** All that is kept; the daemon gives no more at once. */
const mostEntries = 10_000;

export async function showConversation(
  context: CommandContext,
  client: Client,
  { box, tail, isFollowed }: Wanted,
): Promise<number> {
  const { screen } = context;
  const { lastId } = await client.listEvents({ limit: 1, order: "newest" });
  const { entries, firstSeq, lastSeq, tells } =
    tail === 0
      ? { ...(await client.getConversation(box.name, { limit: 1 })), entries: [] }
      : await client.getConversation(box.name, { limit: Math.min(tail ?? mostEntries, mostEntries) });
  if (tail === undefined && firstSeq > 1)
    screen.note(`The first ${firstSeq - 1} entries are no longer kept.`);
  for (const entry of entries) show(context, box, entry);
  if (tells === "only_asked" && !screen.isJson && !isFollowed) await showTerminal(context, client, box);
  if (isFollowed && isLive(box)) await follow(context, client, box, { lastId, lastSeq });
  return 0;
}

const isLive = ({ state }: Box): boolean => state.phase !== "stopped" && state.phase !== "failed";

function show({ screen }: CommandContext, { name }: Box, entry: ConversationEntry): void {
  if (screen.isJson) return screen.printJsonLine(entry);
  const text = renderEntry(entry, name, screen.style);
  if (text !== undefined) screen.print(text);
}

/** Some agents tell nothing but on their terminal: its text is all there is. */
async function showTerminal({ screen }: CommandContext, client: Client, box: Box): Promise<void> {
  screen.note(
    screen.errorStyle.dim(
      `\n${box.spec.agent.name} tells what it does only on its terminal; this is its text:`,
    ),
  );
  await showTerminalText(screen, await client.getLogs(box.name, {}), box.main ?? { cols: 120, rows: 40 });
}

const ends = new Set(["box.stopped", "box.died", "box.removed", "box.failed"]);

async function follow(
  context: CommandContext,
  client: Client,
  box: Box,
  { lastId, lastSeq }: { lastId: number; lastSeq: number },
): Promise<void> {
  let seen = lastSeq;
  for await (const event of client.followEvents({ box: box.name, after: lastId })) {
    if (event.incarnation !== box.incarnation) continue;
    if (event.type === "box.removed") return;
    const { entries } = await client.getConversation(box.name, { after: seen });
    for (const entry of entries) show(context, box, entry);
    seen = entries.at(-1)?.seq ?? seen;
    if (ends.has(event.type)) return;
  }
}
