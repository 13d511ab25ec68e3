/** Reading and writing `agentbox.lock`. Machine-written JSON: one form for one content, so that diffs mean something. */
import { AgentBoxError, messageOf } from "../base/errors.ts";
import { type InstalledTool, LockFile } from "./tool.ts";

export const lockFileName = "agentbox.lock";
export type LockedAgent = LockFile["agents"][string];

export const emptyLock: LockFile = { version: 1, agents: {} };

/** `file` is only for messages. */
export function readLock(text: string, file: string): LockFile {
  const parsed = LockFile.safeParse(parseJson(text, file));
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw invalid(file, `${path.join(".") || "the file"}: ${message}`);
}

export function writeLock(lock: LockFile): string {
  const names = Object.keys(lock.agents).sort();
  const agents = Object.fromEntries(names.map((name) => [name, ordered(lock.agents[name]!)]));
  const images = Object.entries(lock.images ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const pinned = images.length === 0 ? {} : { images: Object.fromEntries(images) };
  return `${JSON.stringify({ version: lock.version, agents, ...pinned }, undefined, 2)}\n`;
}

/** The same lock with another entry for one agent, or none. */
export function withLocked(lock: LockFile, agent: string, entry: LockedAgent | undefined): LockFile {
  const { [agent]: _before, ...others } = lock.agents;
  return { ...lock, agents: entry === undefined ? others : { ...others, [agent]: entry } };
}

/** The same lock with another content for one reference. */
export const withPinnedImage = (lock: LockFile, reference: string, digest: string): LockFile => ({
  ...lock,
  images: { ...lock.images, [reference]: digest },
});

export const lockedAgent = (tool: InstalledTool, platform: string): LockedAgent => ({
  version: tool.version,
  source: tool.source,
  package: tool.package,
  integrity: tool.integrity,
  digest: tool.digest,
  platform,
});

const ordered = ({ version, source, package: name, integrity, digest, platform }: LockedAgent) => ({
  version,
  source,
  package: name,
  integrity,
  digest,
  platform,
});

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`${file}${positionOf(messageOf(error), text)}`, "it is not JSON");
  }
}

/** V8 says where it stopped reading, as an offset. */
function positionOf(message: string, text: string): string {
  const offset = /at position (\d+)/.exec(message)?.[1];
  if (offset === undefined) return "";
  const before = text.slice(0, Number(offset)).split("\n");
  return `:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

const invalid = (where: string, problem: string): AgentBoxError =>
  new AgentBoxError("lock.invalid", `${where} cannot be used: ${problem}.`, {
    hint: "Take it back from version control, or remove it and pin again: agentbox agents add NAME --project",
  });
