import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Box } from "../../contract/box.ts";
import { readerFor } from "../agents/read-agent.ts";
import type { LiveBox } from "../context.ts";
import type { OutputParts, Using } from "../using.ts";
import { pauseAfter, Recording } from "./recording.ts";

/** Programs that the host has started itself, and not only heard of. SECURITY: a box can make up names without end. */
export const isSource = (live: LiveBox, session: string): boolean => live.sources.has(session);

/**
 * Keeps the output of a session or service on the host, from where recording last ended. The box holds the newest part
 * while it is not read, so a restart of the daemon loses nothing that fits in there.
 */
export function recordOutput(core: Using<OutputParts>, box: Box, source: string): void {
  const live = core.live.get(box.name);
  if (!live || live.recording.has(source)) return;
  const recording = follow(core, live, box, source).finally(() => live.recording.delete(source));
  live.recording.set(source, recording);
  core.background(`recording ${box.name}`, recording);
}

/** Closes a box's link, and resolves when all that came over it is in the box's logs. */
export async function closeRecorded({ link, recording }: LiveBox): Promise<void> {
  await link[Symbol.asyncDispose]();
  await Promise.allSettled(recording.values());
}

const passed = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

async function follow(
  core: Using<
    | "agentProblems"
    | "agentWatch"
    | "agents"
    | "clock"
    | "conversations"
    | "logs"
    | "noteFromAgent"
    | "report"
    | "turnCheckpoints"
  >,
  live: LiveBox,
  box: Box,
  source: string,
): Promise<void> {
  const read = readerFor(core, box, source);
  const offset = await core.ports.logs.recordedBytes(box.name, source);
  const stream = await live.link.open({ kind: "follow", source, offset });
  const { clock, logs } = core.ports;
  const recording = new Recording(stream, offset, {
    write: (at, chunk) => logs.append(box.name, source, at, chunk),
    pause: (bytes) => passed(clock, pauseAfter(live.logRate, bytes)),
    failed: (error) => core.ports.report({ box: box.name, error: messageOf(error) }, "writing a log failed"),
  });
  stream.onMessage((message) => {
    if (message.type === "offset") recording.moveTo(message.offset);
  });
  stream.onData((chunk, channel) => {
    if (channel === 1) read?.(chunk);
    recording.add(chunk);
  });
  await new Promise<void>((resolve) => stream.onClose(() => resolve()));
  await recording.end();
}
