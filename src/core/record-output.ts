import type { Box } from "../contract/box.ts";
import { readerFor } from "./agents/read-agent.ts";
import type { Core } from "./context.ts";

/**
 * Keeps what a session or service prints on the host, from where recording last ended. The box holds the newest
 * part while nobody listens, so a restart of the daemon loses nothing that fits in there.
 */
export function recordOutput(core: Core, box: Box, source: string): void {
  const live = core.live.get(box.name);
  if (!live || live.recording.has(source)) return;
  const recording = follow(core, box, source).finally(() => live.recording.delete(source));
  live.recording.set(source, recording);
  core.background(`recording ${box.name}/${source}`, recording);
}

/** 2 MiB a second; more than a person reads, less than a program can print. */
const maxBytesPerMs = 2 * 1024;

async function follow(core: Core, box: Box, source: string): Promise<void> {
  const live = core.live.get(box.name);
  if (!live) return;
  const { logs } = core.ports;
  const read = readerFor(core, box, source);
  let offset = await logs.recordedBytes(box.name, source);
  const stream = await live.link.open({ kind: "follow", source, offset });
  let writing: Promise<void> = Promise.resolve();
  stream.onMessage((message) => {
    if (message.type === "offset") offset = message.offset;
  });
  stream.onData((chunk, channel) => {
    if (channel === 1) read?.(chunk);
    const at = offset;
    offset += chunk.length;
    // One chunk at a time and never faster than a log is worth: a flood waits in the box, where it is bounded and
    // overwrites itself, instead of taking the processor from whoever is watching.
    stream.pause();
    writing = writing.then(() => logs.append(box.name, source, at, chunk));
    core.background("writing a log", writing);
    const resume = () => void core.ports.clock.after(chunk.length / maxBytesPerMs, () => stream.resume());
    void writing.then(resume, resume);
  });
  await new Promise<void>((resolve) => stream.onClose(() => resolve()));
  await writing;
}
