/** Boxes with conversations of any length: written where the daemon keeps them, before it first reads them. */
import { join } from "node:path";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import type { ConversationPart } from "../../src/contract/conversation.ts";
import { KeptConversation } from "../../src/core/conversation/kept-conversation.ts";
import { openBoxLogs } from "../../src/services/box-logs/index.ts";
import type { TestDaemon } from "./daemon.ts";
import { endedRun, memoryBox, withStore } from "./many-boxes.ts";

/** A box that runs nothing, whose agent is done with its task, and what was said there. */
export async function talkedBox(
  daemon: TestDaemon,
  name: string,
  parts: readonly ConversationPart[],
): Promise<void> {
  const { box } = await memoryBox(daemon, name);
  const asked = parts.find((part) => part.kind === "asked");
  const run = { ...endedRun, verdict: "done" as const, ...omitUndefined({ task: asked?.text }) };
  await withStore(daemon, (store) => store.commit({ update: { ...box, run }, events: [] }));
  const kept = new KeptConversation(
    openBoxLogs((one) => join(daemon.home, "boxes", one, "logs")),
    name,
  );
  const startMs = Date.now() - parts.length * 1_000;
  let last = Promise.resolve();
  for (const [index, part] of parts.entries()) last = kept.add({ atMs: startMs + index * 1_000, part });
  await last;
}

const diff = "-export const total = items.length;\n+export const total = sum(items);";

/** One turn of an agent: four steps of its own words and a tool with its answer, and the end. */
export const turn = (number: number, steps: number): readonly ConversationPart[] => [
  { kind: "asked", text: `Task ${number}: make the cart add up.`, from: "owner" },
  ...Array.from({ length: steps }, (_, step): readonly ConversationPart[] => {
    const id = `call-${number}-${step}`;
    const isEdit = step % 3 === 0;
    return [
      { kind: "thinking", text: `The total of step ${step} counts items, and should add their prices.` },
      {
        kind: "message",
        role: "agent",
        text: `I look at **step ${step}** and run \`npm test\`.\n\n- the cart counts\n- it should add`,
      },
      {
        kind: "tool_called",
        id,
        tool: isEdit ? "Edit" : "Bash",
        summary: isEdit ? "src/cart.js" : `npm test -- --step ${step}`,
        ...(isEdit ? { diff } : {}),
      },
      { kind: "tool_answered", id, isError: step % 7 === 6, summary: `ok ${step}\n`.repeat(6) },
    ];
  }).flat(),
  { kind: "file_changed", path: "/workspace/src/cart.js", change: "changed" },
  { kind: "checkpoint", number, files: 1, added: 1, deleted: 1 },
  { kind: "turn_ended", verdict: "done", tokens: 12_345, costMicroUsd: 45_000, durationMs: 61_000 },
];

/** At least so many entries, in turns. */
export function longConversation(entries: number): readonly ConversationPart[] {
  const parts: ConversationPart[] = [];
  for (let number = 1; parts.length < entries; number += 1) parts.push(...turn(number, 12));
  return parts;
}
