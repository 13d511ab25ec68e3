/** Makes one entry of the store: fetched, checked, sealed, hashed and only then visible. */
import { basename, join } from "node:path";
import { formatBytes } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { InstallRecipe } from "../../contract/agent.ts";
import type { InstalledTool } from "../../contract/tool.ts";
import { ensureDirectory } from "../../host/files.ts";
import type { InstallRequest } from "../../ports/tool-store.ts";
import { interrupted } from "./installer-process.ts";
import { type PathRecipe, copyFromPath } from "./local-copy.ts";
import { fetchFromNpm } from "./npm.ts";
import { fetchFromPypi } from "./pypi.ts";
import type { Fetch, Fetched } from "./recipe.ts";
import { type ToolRecord, treeName, writeRecord } from "./records.ts";
import { openStage, moveIntoPlace } from "./stage.ts";
import { readTree, type TreeEntry } from "./tree.ts";
import { digestOf, hashTree } from "./tree-digest.ts";
import { chmodSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";

/**
 * Modes of a tree in the store: every box can read it as any user, and only the owner could ever change it. Files
 * cannot be written at all; directories can by their owner, who must be able to remove them with ordinary means.
 */
const batch = 512;
const dirMode = 0o755;

function sealedMode({ kind, mode }: TreeEntry): number {
  if (kind === "dir") return dirMode;
  return (mode & 0o111) === 0 ? 0o444 : 0o555;
}

/** SECURITY: exact modes, so that a package cannot bring a setuid bit or a file that others may write. */
async function sealTree(dir: string, entries: readonly TreeEntry[]): Promise<void> {
  for (const [index, entry] of entries.entries()) {
    // chmod follows links; a link has no mode of its own.
    if (entry.kind !== "link" && entry.mode !== sealedMode(entry))
      chmodSync(join(dir, entry.path), sealedMode(entry));
    if (index % batch === 0) await setImmediate();
  }
  await chmod(dir, dirMode);
}

export interface InstallContext {
  readonly agentDir: string;
  /** Under root, boxes have users of their own and must pass through. */
  readonly dirMode: number;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
}

const progressEveryMs = 2_000;

/** The caller holds the agent's lock. */
export async function installTool(request: InstallRequest, at: InstallContext): Promise<ToolRecord> {
  await ensureDirectory(at.agentDir, { mode: at.dirMode });
  await using stage = await openStage(at.agentDir);
  const { agent, onProgress, signal } = request;
  const fetch: Fetch = { agent, ...stage, env: at.env, onProgress, signal };
  const fetched = await watchGrowth(stage, request, () => fetchTool(fetch, request));
  onProgress("Checking what was installed");
  await sealTree(stage.tree, await readTree(stage.tree));
  const entries = await hashTree(stage.tree, await readTree(stage.tree), signal).catch((error: unknown) => {
    throw signal.aborted ? interrupted() : error;
  });
  const tool = describe(request, fetched, digestOf(entries), {
    bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0),
    files: entries.filter(({ kind }) => kind === "file").length,
    installedAtMs: at.clock.nowMs(),
  });
  checkExpected(tool, request.expectedDigest);
  const record = { tool, program: fetched.program, entries };
  await moveIntoPlace(stage.tree, join(at.agentDir, treeName(tool)));
  await writeRecord(at.agentDir, record);
  return record;
}

async function fetchTool(fetch: Fetch, { recipe, version, from }: InstallRequest): Promise<Fetched> {
  // SECURITY: a person who names the program means that one, and not what a registry has under the agent's name.
  if (from !== undefined && recipe.kind !== "none")
    return copyFromPath(fetch, pathRecipe(fetch.agent, recipe), from, version);
  if (recipe.kind === "npm") return fetchFromNpm(fetch, recipe, version ?? recipe.version);
  if (recipe.kind === "pypi") return fetchFromPypi(fetch, recipe, version ?? recipe.version);
  if (recipe.kind === "path") return copyFromPath(fetch, recipe, from, version);
  throw new AgentBoxError("input.invalid", `"${fetch.agent}" is part of every box.`, {
    hint: `There is nothing to install; start it: agentbox run ${fetch.agent}`,
  });
}

function pathRecipe(agent: string, recipe: Exclude<InstallRecipe, { kind: "none" }>): PathRecipe {
  if (recipe.kind === "path") return recipe;
  return {
    kind: "path",
    bin: recipe.bin ?? basename(recipe.package),
    hint: `Name the program, or a directory with it, or take it from its registry: agentbox agents add ${agent}`,
  };
}

const describe = (
  { agent, recipe, from }: InstallRequest,
  { version, package: name, integrity }: Fetched,
  digest: string,
  facts: Pick<InstalledTool, "bytes" | "files" | "installedAtMs">,
): InstalledTool => ({
  agent,
  // A version without a name is named by its content.
  version: version === "" ? `local-${digest.slice("sha256:".length, "sha256:".length + 8)}` : version,
  source: recipe.kind === "none" || from !== undefined ? "path" : recipe.kind,
  ...omitUndefined({ package: name, integrity }),
  digest,
  ...facts,
});

/** SECURITY: a registry that now answers with something else than what was locked must not get its way. */
function checkExpected({ agent, version, digest }: InstalledTool, expected: string | undefined): void {
  if (expected === undefined || expected === digest) return;
  throw new AgentBoxError(
    "tool.install_failed",
    `${agent} ${version} is not what agentbox.lock expects: its digest is ${digest}.`,
    {
      hint: `If you want the change, lock it again: agentbox agents add ${agent}@${version} --project`,
      facts: { agent, version, digest, expected },
    },
  );
}

/** Package managers say little while they work; what grows on the disk says that they do. */
async function watchGrowth<T>(
  { tree, scratch }: { readonly tree: string; readonly scratch: string },
  { agent, onProgress }: InstallRequest,
  task: () => Promise<T>,
): Promise<T> {
  const look = async (): Promise<void> => {
    const bytes = (await Promise.all([tree, scratch].map(sizeOf))).reduce((a, b) => a + b, 0);
    onProgress(`Installing ${agent}: ${formatBytes(bytes)} on disk`);
  };
  const timer = setInterval(() => void look(), progressEveryMs);
  try {
    return await task();
  } finally {
    clearInterval(timer);
  }
}

/** Files come and go meanwhile, so a walk that fails says nothing. */
const sizeOf = (dir: string): Promise<number> =>
  readTree(dir).then(
    (entries) => entries.reduce((sum, { bytes }) => sum + bytes, 0),
    () => 0,
  );
