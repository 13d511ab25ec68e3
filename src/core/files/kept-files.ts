/**
 * Files of a box that does not run, as its last checkpoint has them: the host reads its own copy, and neither starts the box
 * nor opens anything of it. Links are shown and not followed.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { FileEntry, KeptAt } from "../../contract/api/schemas/files-and-ports.ts";
import type { Box } from "../../contract/box.ts";
import type { ReviewDirectoryEntry, ReviewRepository } from "../../ports/review.ts";
import { resolveCheckpoint, reviewOf } from "../review/review-of.ts";
import type { Using } from "../using.ts";
import { workspacePath } from "./workspace-path.ts";

type Parts = Using<"reviews" | "storage" | "store">;

/** It is held in memory as a whole; larger ones are for the box itself. */
const maxFileBytes = 64 * 1024 * 1024;
const maxTargetBytes = 4_096;

/** Whether the box cannot be asked, and its last checkpoint is what there is to see. */
export const cannotAnswer = ({ state }: Box): boolean =>
  ["stopped", "failed", "paused"].includes(state.phase);

interface Kept {
  readonly repository: ReviewRepository;
  readonly commit: string;
  readonly keptAt: KeptAt;
}

async function openKept(core: Parts, box: Box): Promise<Kept> {
  const repository = await reviewOf(core, box);
  const { commit, checkpoint } = await resolveCheckpoint(core, box, repository, "latest");
  return {
    repository,
    commit,
    keptAt: omitUndefined({ checkpoint: checkpoint?.number, atMs: checkpoint?.atMs }),
  };
}

export async function listKept(
  core: Parts,
  box: Box,
  path: string,
  limit: number,
): Promise<{ entries: FileEntry[]; total: number; keptAt: KeptAt }> {
  const { repository, commit, keptAt } = await openKept(core, box);
  const found = await repository.directory(commit, belowTop(path), limit);
  if (found === undefined) throw notThere(path, "directory");
  const entries = await Promise.all(found.entries.map((entry) => entryOf(repository, entry)));
  return { entries, total: found.total, keptAt };
}

/** A file as a whole. */
export async function readKept(
  core: Parts,
  box: Box,
  path: string,
): Promise<{ entry: FileEntry; bytes: Uint8Array }> {
  const { repository, commit } = await openKept(core, box);
  const below = belowTop(path);
  const entry = await repository.entry(commit, below);
  if (entry === undefined) throw notThere(path, "file");
  if (entry.kind !== "file") throw new AgentBoxError("file.exists", `${path} is not a file.`);
  if (entry.size > maxFileBytes) {
    throw new AgentBoxError("input.too_large", `${path} is too large to be read from a checkpoint.`, {
      hint: `Start the box, then: agentbox cp ${box.name}:/workspace/${below} .`,
    });
  }
  const { bytes } = await repository.blob(entry.id, maxFileBytes);
  return { entry: { name: entry.name, kind: "file", size: bytes.length }, bytes };
}

const belowTop = (path: string): string => {
  const below = workspacePath(path);
  return below === "." ? "" : below;
};

async function entryOf(
  repository: ReviewRepository,
  { name, kind, size, id }: ReviewDirectoryEntry,
): Promise<FileEntry> {
  if (kind !== "symlink") return { name, kind, size };
  const { bytes } = await repository.blob(id, maxTargetBytes);
  return { name, kind, size, target: Buffer.from(bytes).toString() };
}

const notThere = (path: string, what: "file" | "directory"): AgentBoxError =>
  new AgentBoxError("file.not_found", `There is no ${what} ${path} in the last checkpoint.`, {
    hint: "Files that git ignores are not in checkpoints. Start the box to see them.",
  });
