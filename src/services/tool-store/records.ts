/**
 * The store's record of each tree, in a file beside it that no box can see. A tree without a record was never finished
 * and does not count.
 */
import { readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { systemCode } from "../../base/errors.ts";
import { InstalledTool } from "../../contract/tool.ts";
import { writeFileAtomic } from "../../host/files.ts";
import type { HashedEntry } from "./tree-digest.ts";

/** path, kind, mode, link target, sha256, bytes, stamp: thousands of them, so names are not repeated. */
const Row = z.tuple([
  z.string(),
  z.enum(["file", "dir", "link"]),
  z.int(),
  z.string(),
  z.string(),
  z.int(),
  z.string(),
]);
const RecordFile = z.object({
  format: z.literal(1),
  tool: InstalledTool,
  /** Path of the program below the tree. */
  program: z.string(),
  entries: z.array(Row),
});

export interface ToolRecord {
  readonly tool: InstalledTool;
  readonly program: string;
  readonly entries: readonly HashedEntry[];
}

const suffix = ".json";

/** `2.1.197-0123456789ab`: the tree's directory, and with a suffix its record. */
export const treeName = ({ version, digest }: InstalledTool): string =>
  `${version}-${digest.replace("sha256:", "").slice(0, 12)}`;

/** Newest first; with a version only those. A record that cannot be read counts as none: the agent must be installed again. */
export async function listRecords(agentDir: string, version?: string): Promise<ToolRecord[]> {
  const names = await readdir(agentDir).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  });
  const records = await Promise.all(
    names
      .filter((name) => name.endsWith(suffix) && name.startsWith(version ?? ""))
      .map((name) => readRecord(join(agentDir, name))),
  );
  return records
    .filter((record) => record !== undefined)
    .filter(({ tool }) => version === undefined || tool.version === version)
    .sort((a, b) => b.tool.installedAtMs - a.tool.installedAtMs);
}

async function readRecord(file: string): Promise<ToolRecord | undefined> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
  const parsed = RecordFile.safeParse(value);
  if (!parsed.success) return undefined;
  const { tool, program, entries } = parsed.data;
  return {
    tool,
    program,
    entries: entries.map(([path, kind, mode, target, sha256, bytes, stamp]) => ({
      path,
      kind,
      mode,
      target,
      sha256,
      bytes,
      stamp,
    })),
  };
}

export async function writeRecord(agentDir: string, { tool, program, entries }: ToolRecord): Promise<void> {
  const rows = entries.map(({ path, kind, mode, target, sha256, bytes, stamp }) => [
    path,
    kind,
    mode,
    target,
    sha256,
    bytes,
    stamp,
  ]);
  const text = JSON.stringify({ format: 1, tool, program, entries: rows });
  await writeFileAtomic(join(agentDir, `${treeName(tool)}${suffix}`), text);
}

export const removeRecord = (agentDir: string, tool: InstalledTool): Promise<void> =>
  rm(join(agentDir, `${treeName(tool)}${suffix}`), { force: true });
