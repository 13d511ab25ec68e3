/**
 * Output of sessions and services as files of the daemon: owner-only, never visible in a box, two files of at most
 * 4 MiB for each source. A flood overwrites its own past and nothing else.
 */
import { createHash } from "node:crypto";
import { appendFile, mkdir, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseJson } from "../../base/json.ts";
import { KeyedMutex } from "../../base/mutex.ts";
import { ensureDirectory, writeFileAtomic } from "../../host/files.ts";
import type { BoxLogs } from "../../ports/logs.ts";

const maxFileBytes = 4 << 20;
/** All logs of a box, unless something else was said. */
const defaultMaxBytes = 128 << 20;
const lookEveryBytes = 1 << 20;
/** The disk space of a file, including the note that says how far it was recorded. */
const leastFileBytes = 8 << 10;
const sourcesFile = "sources.json";
/** More names than these are not remembered; the newest count. */
const maxSources = 1_000;

interface Source {
  readonly file: string;
  recordedBytes: number;
  fileBytes: number;
  /** Written since the box's logs were looked at as a whole. A new source is looked at with its first byte. */
  unseenBytes: number;
  readonly listeners: Set<(chunk: Uint8Array) => void>;
}

/** `logDir` gives the directory of a box; the box must not be able to reach it. */
export function openBoxLogs(logDir: (box: string) => string): BoxLogs {
  const boxes = new Map<string, Map<string, Source>>();
  const limits = new Map<string, number>();
  const locks = new KeyedMutex();
  /** Boxes that were removed and have not been started again. */
  const removed = new Set<string>();
  const pending = new Map<string, Set<Promise<unknown>>>();

  const run = async <T>(box: string, key: string, task: () => Promise<T>): Promise<T> => {
    const result = locks.run(`${box}/${key}`, task);
    const others = pending.get(box) ?? new Set();
    pending.set(box, others.add(result));
    try {
      return await result;
    } finally {
      others.delete(result);
      if (others.size === 0 && pending.get(box) === others) pending.delete(box);
    }
  };

  /** Appending, reading and following one source never overlap, so nothing is lost or doubled between them. */
  const withSource = <T>(box: string, name: string, task: (source: Source) => Promise<T>): Promise<T> =>
    run(box, name, async () => {
      const sources = boxes.get(box) ?? new Map<string, Source>();
      boxes.set(box, sources);
      const source = sources.get(name) ?? (await openSource(logDir(box), name));
      sources.set(name, source);
      return task(source);
    });

  return {
    recordedBytes: (box, name) => withSource(box, name, async (source) => source.recordedBytes),

    append: (box, name, offset, chunk) =>
      withSource(box, name, async (source) => {
        if (removed.has(box)) return;
        await mkdir(logDir(box), { recursive: true, mode: 0o700 });
        const gap = offset - source.recordedBytes;
        const mark = gap > 0 ? Buffer.from(`\n[… ${gap} bytes were not recorded …]\n`) : Buffer.alloc(0);
        const text = Buffer.concat([mark, chunk]);
        if (source.fileBytes > 0 && source.fileBytes + text.length > maxFileBytes) {
          await rename(source.file, `${source.file}.1`);
          source.fileBytes = 0;
        }
        await appendFile(source.file, text, { mode: 0o600 });
        source.fileBytes += text.length;
        source.unseenBytes += text.length;
        if (source.unseenBytes >= lookEveryBytes) {
          source.unseenBytes = 0;
          await trim(logDir(box), limits.get(box) ?? defaultMaxBytes);
        }
        source.recordedBytes = offset + chunk.length;
        await writeFile(`${source.file}.offset`, String(source.recordedBytes), { mode: 0o600 });
        for (const listener of source.listeners) listener(text);
      }),

    read: (box, name, { tailLines }) => withSource(box, name, (source) => readKept(source, tailLines)),

    follow: (box, name, { tailLines }, listener) =>
      withSource(box, name, async (source) => {
        const kept = await readKept(source, tailLines);
        source.listeners.add(listener);
        return { kept, stop: () => void source.listeners.delete(listener) };
      }),

    setLimit: (box, bytes) => void limits.set(box, bytes),

    addSource: (box, name) =>
      run(box, "", async () => {
        if (removed.has(box)) return;
        const known = (await readSources(logDir(box))).filter((one) => one !== name);
        await ensureDirectory(logDir(box), { mode: 0o700 });
        const text = JSON.stringify([...known, name].slice(-maxSources));
        await writeFileAtomic(join(logDir(box), sourcesFile), text, { mode: 0o600, isDurable: false });
      }),

    sources: (box) => run(box, "", () => readSources(logDir(box))),

    async startRun(box) {
      removed.delete(box);
      await rm(join(logDir(box), sourcesFile), { force: true });
      for (const source of boxes.get(box)?.values() ?? []) source.recordedBytes = 0;
      const names = await readdir(logDir(box)).catch(() => []);
      for (const name of names)
        if (name.endsWith(".offset")) await rm(join(logDir(box), name), { force: true });
    },

    async forget(box) {
      removed.add(box);
      await Promise.allSettled(pending.get(box) ?? new Set<Promise<unknown>>());
      boxes.delete(box);
      limits.delete(box);
    },
  };
}

/** SECURITY: sessions can be many, and each has files. Those that were written last stay. */
async function trim(dir: string, maxBytes: number): Promise<void> {
  const names = (await readdir(dir)).filter((name) => name.endsWith(".log") || name.endsWith(".log.1"));
  const files = await Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(dir, name)).catch(() => ({ size: 0, mtimeMs: 0 }));
      return { path: join(dir, name), bytes: Math.max(size, leastFileBytes), mtimeMs };
    }),
  );
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of files.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
    if (total <= maxBytes) return;
    total -= bytes;
    await rm(path, { force: true });
  }
}

async function openSource(dir: string, name: string): Promise<Source> {
  // SECURITY: a session's name comes from outside; as a digest it cannot be a path.
  const file = join(dir, `${createHash("sha256").update(name).digest("hex").slice(0, 16)}.log`);
  const fileBytes = await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
  const offset = Number((await readOrEmpty(`${file}.offset`)).toString());
  const recordedBytes = Number.isSafeInteger(offset) ? offset : 0;
  return { file, fileBytes, unseenBytes: lookEveryBytes, recordedBytes, listeners: new Set() };
}

async function readSources(dir: string): Promise<readonly string[]> {
  const names = parseJson((await readOrEmpty(join(dir, sourcesFile))).toString());
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

const readOrEmpty = (path: string): Promise<Buffer> => readFile(path).catch(() => Buffer.alloc(0));

async function readKept(source: Source, tailLines: number | undefined): Promise<Buffer> {
  const whole = Buffer.concat([await readOrEmpty(`${source.file}.1`), await readOrEmpty(source.file)]);
  return tailLines === undefined ? whole : lastLines(whole, tailLines);
}

function lastLines(whole: Buffer, lines: number): Buffer {
  if (lines === 0) return Buffer.alloc(0);
  let at = whole.length - (whole.at(-1) === 0x0a ? 1 : 0);
  for (let n = 0; n < lines; n++) {
    if (at <= 0) return whole;
    at = whole.lastIndexOf(0x0a, at - 1);
    if (at < 0) return whole;
  }
  return whole.subarray(at + 1);
}
