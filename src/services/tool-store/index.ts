/**
 * Agents' programs on this host: `<dir>/<agent>/<version>-<digest>/`, mounted read-only into boxes, and beside it a
 * record of every file. Entries appear whole, never change, and are compared with their record before each use.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { rememberSuccess } from "../../base/remember-success.ts";
import { KeyedMutex } from "../../base/mutex.ts";
import type { InstallRecipe } from "../../contract/agent.ts";
import { lockedAgent } from "../../contract/lock-file.ts";
import type { InstalledTool } from "../../contract/tool.ts";
import { ensureDirectory } from "../../host/files.ts";
import type { InstallRequest, ToolStore, UsableTool } from "../../ports/tool-store.ts";
import { installTool } from "./install.ts";
import { interrupted } from "./installer-process.ts";
import { type Orders, Pins } from "./pins.ts";
import { checkVersion } from "./recipe.ts";
import { type ToolRecord, listRecords, removeRecord, treeName, writeRecord } from "./records.ts";
import { discard, sweep } from "./stage.ts";
import { type TreeCheck, verifyTree } from "./verify-tree.ts";

export interface ToolStoreOptions {
  /** `<home>/tools/agents`; boxes can pass through what lies above. */
  readonly dir: string;
  /** `<home>/agentbox.lock`. */
  readonly lockFile: string;
  readonly orders: Orders;
  readonly isRoot: boolean;
  /** For package managers: where a person configures registries and proxies. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
}

export const openToolStore = (options: ToolStoreOptions): ToolStore => new DiskToolStore(options);

const platform = `${process.platform}-${process.arch}`;

class DiskToolStore implements ToolStore {
  readonly #options: ToolStoreOptions;
  readonly #dirMode: number;
  readonly #pins: Pins;
  readonly #locks = new KeyedMutex();

  constructor(options: ToolStoreOptions) {
    this.#options = options;
    this.#dirMode = options.isRoot ? 0o711 : 0o700;
    this.#pins = new Pins(options.lockFile, options.isRoot, options.orders);
  }

  async list(): Promise<readonly InstalledTool[]> {
    const lists = await Promise.all((await this.#agents()).map((agent) => listRecords(this.#dirOf(agent))));
    return lists.flat().map(({ tool }) => tool);
  }

  install(request: InstallRequest): Promise<InstalledTool> {
    const agentDir = this.#dirOf(request.agent);
    return this.#locks.run(request.agent, async () => {
      if (request.signal.aborted) throw interrupted();
      if (request.version !== undefined) checkVersion(request.version);
      const present = await this.#findWhole(request);
      if (present) return present.tool;
      await ensureDirectory(this.#options.dir, { mode: this.#dirMode });
      const { env, clock } = this.#options;
      return (await installTool(request, { agentDir, dirMode: this.#dirMode, env, clock })).tool;
    });
  }

  async use(agent: string, recipe: InstallRecipe, version?: string): Promise<UsableTool> {
    const wanted = version ?? (await this.pinned(agent));
    const record = wanted === undefined ? undefined : await this.#find(agent, wanted);
    if (!record) throw notInstalled(agent, recipe, wanted);
    const check = await this.#check(record, "quick");
    if (check.isWhole) return { tool: record.tool, dir: this.#treeOf(record), program: record.program };
    throw new AgentBoxError(
      "tool.tampered",
      `${agent} ${record.tool.version} is not what was installed: ${describeProblem(check)}.`,
      {
        hint: `Find out who changed it, then install it again: agentbox agents add ${agent}@${record.tool.version}`,
        facts: { agent, version: record.tool.version, path: check.path, problem: check.problem },
      },
    );
  }

  remove(agent: string, version: string): Promise<void> {
    return this.#locks.run(agent, async () => {
      for (const record of await listRecords(this.#dirOf(agent))) {
        if (record.tool.version !== version) continue;
        // Without its record it no longer counts, even if the removal is cut short.
        await removeRecord(this.#dirOf(agent), record.tool);
        await discard(this.#treeOf(record)).catch(ignoreAbsence);
      }
    });
  }

  async verify(agent: string, version: string) {
    const record = await this.#find(agent, version);
    if (!record) return { isWhole: false, problem: "it is not installed" };
    const check = await this.#check(record, "full");
    return check.isWhole ? { isWhole: true } : { isWhole: false, problem: describeProblem(check) };
  }

  async pinned(agent: string): Promise<string | undefined> {
    return (await this.#pins.find(agent))?.version;
  }

  async pin(agent: string, version: string | undefined): Promise<void> {
    const entry = version === undefined ? undefined : await this.#lockedEntry(agent, version);
    await this.#pins.set(agent, entry);
  }

  async pinProject(projectDir: string, agent: string, version: string): Promise<void> {
    await this.#pins.setInProject(projectDir, agent, await this.#lockedEntry(agent, version));
  }

  pinnedImage(projectDir: string | undefined, reference: string): Promise<string | undefined> {
    return this.#pins.findImage(projectDir, reference);
  }

  async pinImage(projectDir: string | undefined, reference: string, digest: string): Promise<void> {
    await this.#pins.setImage(projectDir, reference, digest);
  }

  async #lockedEntry(agent: string, version: string) {
    const record = await this.#find(agent, version);
    if (record) return lockedAgent(record.tool, platform);
    throw new AgentBoxError("tool.not_installed", `${agent} ${version} is not installed.`, {
      hint: `Install it: agentbox agents add ${agent}@${version}`,
      facts: { agent, version },
    });
  }

  /** A version that is there and whole is not fetched again. */
  async #findWhole({
    agent,
    recipe,
    version,
    from,
    expectedDigest,
  }: InstallRequest): Promise<ToolRecord | undefined> {
    if (from !== undefined) return undefined;
    if (recipe.kind !== "npm" && recipe.kind !== "pypi") return undefined;
    const record = await this.#find(agent, version ?? recipe.version);
    const isWanted =
      record?.tool.package === recipe.package &&
      (expectedDigest === undefined || expectedDigest === record.tool.digest);
    return isWanted && (await this.#check(record, "quick")).isWhole ? record : undefined;
  }

  async #find(agent: string, version: string): Promise<ToolRecord | undefined> {
    await this.#sweepOnce();
    return (await listRecords(this.#dirOf(agent), version))[0];
  }

  async #check(record: ToolRecord, how: "quick" | "full"): Promise<TreeCheck> {
    const check = await verifyTree(this.#treeOf(record), record, how);
    // A restored backup has other inodes and times; it was read in full once and need not be again.
    if (check.isWhole && check.isMoved)
      await writeRecord(this.#dirOf(record.tool.agent), { ...record, entries: check.entries });
    return check;
  }

  async #agents(): Promise<string[]> {
    await this.#sweepOnce();
    return readdir(this.#options.dir).catch((error: unknown) => {
      ignoreAbsence(error);
      return [];
    });
  }

  /** One daemon serves a home, so before its first use no installation is in progress and unfinished trees can go. */
  readonly #sweepOnce = rememberSuccess(() =>
    readdir(this.#options.dir)
      .then((agents) => Promise.all(agents.map((agent) => sweep(join(this.#options.dir, agent)))))
      .then(() => undefined, ignoreAbsence),
  );

  /** SECURITY: names of agents come from requests and from files of users, and become paths. */
  #dirOf(agent: string): string {
    if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(agent))
      throw new AgentBoxError("agent.unknown", `"${agent.slice(0, 64)}" cannot be the name of an agent.`);
    return join(this.#options.dir, agent);
  }

  #treeOf({ tool }: ToolRecord): string {
    return join(this.#dirOf(tool.agent), treeName(tool));
  }
}

const describeProblem = ({ path, problem }: { readonly path: string; readonly problem: string }): string =>
  path === "" ? problem : `${path}: ${problem}`;

function ignoreAbsence(error: unknown): void {
  if (systemCode(error) !== "ENOENT") throw error;
}

function notInstalled(agent: string, recipe: InstallRecipe, version: string | undefined): AgentBoxError {
  const at = version === undefined ? "" : `@${version}`;
  return new AgentBoxError(
    "tool.not_installed",
    `The agent "${agent}"${version === undefined ? "" : ` ${version}`} is not installed.`,
    {
      hint: recipe.kind === "path" ? recipe.hint : `Install it: agentbox agents add ${agent}${at}`,
      facts: { agent, ...omitUndefined({ version }) },
    },
  );
}
