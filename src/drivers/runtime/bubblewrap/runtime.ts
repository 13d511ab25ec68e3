/**
 * Boxes made with bubblewrap. The disk and /proc are the only memory that matters: every verb looks there first, so
 * that a daemon that was killed between any two steps finds exactly what lives.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { mkdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { AgentBoxError } from "../../../base/errors.ts";
import { KeyedMutex } from "../../../base/mutex.ts";
import { omitUndefined } from "../../../base/omit-undefined.ts";
import { BoxName, boxPaths, type Isolation } from "../../../contract/box.ts";
import { signalProcess } from "../../../host/processes.ts";
import type { Runtime, RuntimeBox, RuntimeStatus, RuntimeUsage } from "../../../ports/runtime.ts";
import { identify, type ProcessIdentity, usageFromProc, waitUntilGone } from "../process-tree.ts";
import { type Freezer, signalFreezer } from "../signal-freezer.ts";
import { childrenOf, findFirst, findSupervisor, killAll, killChain, scanChain } from "./box-processes.ts";
import type { BubblewrapHost } from "./bubblewrap-host.ts";
import { type Chain, startChain } from "./chain.ts";
import { EndWatch } from "./end-watch.ts";
import { etcFiles } from "../etc-files.ts";
import { Guard } from "../guard.ts";
import { HostEtc } from "../host-etc.ts";
import { OwnerMaps } from "../owner-maps.ts";
import { findBarrier, Passages } from "./passages.ts";
import { checkToolchains } from "../toolchain-mounts.ts";
import { isolationOf, refuseUnenforceable } from "./guarantees.ts";
import { detectLimiter } from "./limits/detect.ts";
import type { Limiter, GroupFreezer } from "./limits/limiter.ts";
import { checkBesideGuard, checkMounts, checkSkills } from "../mounts.ts";
import { type BoxRecord, readBootId, Records } from "./records.ts";
import { mountSystemFiles } from "../system-files.ts";
import { readSystemLayout } from "../system-layout.ts";
import { refuseUnsupported } from "./unsupported.ts";

/** Stops a box through its control group, where it has one. */
const groupFreezer = (groups: GroupFreezer): Freezer => ({
  freeze: (name) => groups.freeze(name),
  thaw: (name) => groups.thaw(name),
  isFrozen: (name) => groups.isFrozen(name),
});

const startTimeoutMs = 15_000;
/** Below this, uids belong to the host's own services. */
const firstBoxUid = 1000;

export async function openBubblewrap(host: BubblewrapHost, boxesDir: string): Promise<Runtime> {
  const limiter = await detectLimiter({
    boxesDir,
    uid: host.uid,
    prlimit: host.findProgram("prlimit"),
    systemdRun: host.findProgram("systemd-run"),
  });
  const runtime = new BubblewrapRuntime(host, boxesDir, limiter, await readBootId());
  await runtime.adopt();
  return runtime;
}

function checkName(name: string): void {
  // SECURITY: the name becomes part of paths, of control group names and of an argv.
  if (BoxName.safeParse(name).success) return;
  throw new AgentBoxError("box.name_invalid", `${JSON.stringify(name)} is not a name for a box.`, {
    hint: "Use lower-case words joined by hyphens, such as team-app-backend.",
  });
}

class BubblewrapRuntime implements Runtime {
  readonly name = "bubblewrap";
  readonly #host: BubblewrapHost;
  readonly #boxesDir: string;
  readonly #limiter: Limiter;
  readonly #bootId: string;
  readonly #records: Records;
  readonly #guard: Guard;
  readonly #owners: OwnerMaps;
  readonly #passages: Passages;
  readonly #hostEtc: HostEtc;
  readonly #freezer: Freezer;
  readonly #verbs = new KeyedMutex();
  readonly #ends: EndWatch;
  /** Only of this process's own boxes: what they said, and how their chain ended. */
  readonly #chains = new Map<string, Chain>();

  constructor(host: BubblewrapHost, boxesDir: string, limiter: Limiter, bootId: string) {
    this.#host = host;
    this.#boxesDir = boxesDir;
    this.#limiter = limiter;
    this.#bootId = bootId;
    this.#records = new Records(boxesDir);
    this.#guard = new Guard(boxesDir);
    this.#owners = new OwnerMaps(boxesDir, host.uid);
    this.#passages = new Passages(boxesDir, host.uid);
    this.#hostEtc = new HostEtc(boxesDir);
    this.#freezer = limiter.freezer === undefined ? signalFreezer : groupFreezer(limiter.freezer);
    this.#ends = new EndWatch((name, first) => this.#settle(name, first));
  }

  isolation(box: Pick<RuntimeBox, "resources">): Isolation {
    return isolationOf(box.resources, this.#limiter.can);
  }

  /** Watches boxes that live already, and tidies up after boxes that ended unseen. */
  async adopt(): Promise<void> {
    for (const record of await this.#records.list()) {
      const first = await this.#findFirst(record);
      if (first !== undefined) this.#ends.watch(record.name, first);
      // A chain without a first process may still be coming up, and needs what it mounts on.
      else if ((await this.#guard.isRaised(record.name)) && (await scanChain(record.link)).length === 0) {
        await this.#lower(record.name);
        await this.#guard.lower(record.name);
      }
    }
  }

  start(box: RuntimeBox): Promise<RuntimeStatus> {
    checkName(box.name);
    return this.#verbs.run(box.name, async () => {
      const before = await this.#status(box.name);
      if (before !== undefined && before.phase !== "stopped") return before;
      this.#check(box);
      const mounts = await checkMounts(box.mounts, { boxesDir: this.#boxesDir, dirs: box.dirs });
      await checkSkills(box.tools.skills, this.#boxesDir);
      await this.#clear(box.name);
      await this.#ends.ended(box.name);
      return this.#launch({ ...box, mounts });
    });
  }

  #check(box: RuntimeBox): void {
    refuseUnenforceable(box.resources, this.#limiter.can);
    refuseUnsupported(box);
    if (box.dirs.runtime !== this.#records.directory(box.name)) {
      throw new AgentBoxError("input.invalid", `The records of box "${box.name}" would not be found again.`);
    }
    // SECURITY: a box never has the rights of root or of one of the host's services.
    if (this.#host.uid === 0 && (box.owner.uid < firstBoxUid || box.owner.gid < firstBoxUid)) {
      throw new AgentBoxError(
        "box.start_failed",
        `A box cannot belong to user ${box.owner.uid}:${box.owner.gid}.`,
        {
          hint: `Give it an unprivileged user and group from ${firstBoxUid} on.`,
        },
      );
    }
  }

  async #launch(box: RuntimeBox): Promise<RuntimeStatus> {
    const layout = readSystemLayout(await this.#hostEtc.stage());
    const files = await mountSystemFiles(box.files ?? [], layout);
    const record: BoxRecord = { version: 1, name: box.name, bootId: this.#bootId, link: box.dirs.link };
    await mkdir(box.dirs.runtime, { recursive: true, mode: 0o700 });
    // Before the first process, so that every later one can be found.
    await this.#records.write(record);
    const guarded = await this.#guard.raise(box);
    if (guarded !== undefined) checkBesideGuard(box.mounts, guarded);
    const mapped = await this.#owners.raise(
      guarded === undefined ? box : { ...box, dirs: { ...box.dirs, workspace: guarded.workspace } },
    );
    const { directories, masks } = await checkToolchains(box.toolchains ?? [], {
      boxesDir: this.#boxesDir,
      boxd: box.tools.boxd,
    });
    const shown = await this.#passages.raise(box, directories);
    const placement = await this.#limiter.prepare(box.name, box.resources);
    const chain = startChain({
      ...mapped,
      shown,
      masks,
      guardedNames: guarded?.names ?? [],
      ownGit: guarded?.ownGit,
      host: this.#host,
      layout,
      files,
      placement,
      become: this.#host.uid === 0 ? box.owner : undefined,
      command: [boxPaths.node, boxPaths.boxd],
      etc: etcFiles({ name: box.name, machineId: randomBytes(16).toString("hex"), git: box.git }),
      scratchDir: box.dirs.runtime,
      reportPath: this.#records.reportPath(box.name),
    });
    const first = await this.#waitForFirst(box, chain);
    if (first === undefined) throw await this.#startFailure(box, chain);
    const outermost = await identify(chain.pid);
    await this.#records.write({ ...record, first, ...omitUndefined({ chain: outermost }) });
    this.#chains.set(box.name, chain);
    this.#ends.watch(box.name, first, chain.exited);
    return { name: box.name, phase: "running", pid: first.pid };
  }

  /** The box is up when its first process has made boxd; until then a mount or the filter may still fail. */
  async #waitForFirst(box: RuntimeBox, chain: Chain): Promise<ProcessIdentity | undefined> {
    const deadline = performance.now() + startTimeoutMs;
    while (!chain.hasExited() && performance.now() < deadline) {
      const { childPid } = await this.#records.report(box.name);
      if (childPid !== undefined && (await childrenOf(childPid)).length > 0) return identify(childPid);
      await delay(1);
    }
    return undefined;
  }

  async #startFailure(box: RuntimeBox, chain: Chain): Promise<AgentBoxError> {
    await chain.drained();
    await this.#clear(box.name);
    const diagnostics =
      chain.diagnostics() ?? (chain.hasExited() ? "it ended without a word" : "it did not get ready in time");
    const needed = [
      ...Object.values(box.dirs).slice(1),
      box.tools.node,
      box.tools.boxd,
      ...Object.values(box.tools.agents ?? {}),
      // Its settings are closed one by one, for which its directory must be passed through.
      ...(box.guarded === undefined ? [] : [join(box.dirs.workspace, ".git")]),
      ...box.mounts.map((m) => m.source),
      ...(box.files ?? []).map((file) => file.source),
    ];
    const barriers = await Promise.all(needed.map((path) => findBarrier(path, box.owner)));
    const barrier = this.#host.uid === 0 ? barriers.find((directory) => directory !== undefined) : undefined;
    return new AgentBoxError(
      "box.start_failed",
      `Box "${box.name}" did not come up: ${diagnostics.split("\n").at(-1)}.`,
      {
        hint:
          barrier === undefined
            ? "Run: agentbox doctor"
            : `The box's user ${box.owner.uid} cannot pass through ${barrier}; let it (chmod o+x), or keep AgentBox elsewhere.`,
        facts: { box: box.name, diagnostics, ...omitUndefined({ directory: barrier }) },
      },
    );
  }

  /** Ends all remaining processes of a box and frees what it held; its record stays. */
  async #clear(name: string): Promise<void> {
    const record = await this.#records.find(name);
    if (record !== undefined && record.bootId === this.#bootId) await this.#kill(record);
    await this.#limiter.release(name);
    await this.#lower(name);
    await this.#guard.lower(name);
  }

  /** Mounts on the host that are left of a box that is gone. */
  async #lower(name: string): Promise<void> {
    await this.#owners.lower(name);
    await this.#passages.lower(name);
  }

  async #kill(record: BoxRecord): Promise<void> {
    const first = await this.#findFirst(record);
    if (first !== undefined) {
      signalProcess(first.pid, "SIGKILL");
      // A frozen process takes even this signal only when it thaws.
      await this.#freezer.thaw(record.name, first).catch(() => undefined);
      await killAll([first], record.name);
    }
    // The rest of the chain then writes down how the box ended, and goes by itself.
    if (record.chain !== undefined && (await waitUntilGone(record.chain, 2_000))) return;
    // Without a complete record its starter was killed on the way, and part of the chain may still be coming up.
    await killChain(record.link, record.name);
  }

  stop(name: string, { graceMs }: { readonly graceMs: number }): Promise<void> {
    checkName(name);
    return this.#verbs.run(name, async () => {
      const record = await this.#records.find(name);
      const first = record === undefined ? undefined : await this.#findFirst(record);
      if (record === undefined) return;
      if (first !== undefined && graceMs > 0) {
        const supervisor = await findSupervisor(first);
        if (supervisor !== undefined) signalProcess(supervisor, "SIGTERM");
        await this.#freezer.thaw(name, first);
        await waitUntilGone(first, graceMs);
      }
      await this.#clear(name);
      await this.#ends.ended(name);
    });
  }

  pause(name: string): Promise<void> {
    return this.#whileAlive(name, (first) => this.#freezer.freeze(name, first));
  }

  resume(name: string): Promise<void> {
    return this.#whileAlive(name, (first) => this.#freezer.thaw(name, first));
  }

  async #whileAlive(name: string, action: (first: ProcessIdentity) => Promise<void>): Promise<void> {
    checkName(name);
    await this.#verbs.run(name, async () => {
      const record = await this.#records.find(name);
      if (record === undefined) throw new AgentBoxError("box.not_found", `There is no box "${name}".`);
      const first = await this.#findFirst(record);
      if (first === undefined) throw new AgentBoxError("box.wrong_phase", `Box "${name}" is not running.`);
      await action(first);
    });
  }

  remove(name: string): Promise<void> {
    checkName(name);
    return this.#verbs.run(name, async () => {
      await this.#clear(name);
      await this.#ends.ended(name);
      await this.#records.remove(name);
      this.#chains.delete(name);
    });
  }

  async find(name: string): Promise<RuntimeStatus | undefined> {
    checkName(name);
    return this.#status(name);
  }

  async list(): Promise<readonly RuntimeStatus[]> {
    const records = await this.#records.list();
    return Promise.all(records.map((record) => this.#statusOf(record)));
  }

  async usage(name: string): Promise<RuntimeUsage | undefined> {
    checkName(name);
    const record = await this.#records.find(name);
    const first = record === undefined ? undefined : await this.#findFirst(record);
    if (first === undefined) return undefined;
    return (await this.#limiter.usage(name)) ?? (await usageFromProc(first));
  }

  onEnd(listener: (status: RuntimeStatus) => void): () => void {
    return this.#ends.listen(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.close();
    await this.#limiter.close();
  }

  async #status(name: string): Promise<RuntimeStatus | undefined> {
    const record = await this.#records.find(name);
    return record === undefined ? undefined : this.#statusOf(record);
  }

  async #statusOf(record: BoxRecord): Promise<RuntimeStatus> {
    const { name } = record;
    const first = await this.#findFirst(record);
    if (first !== undefined) {
      const phase = (await this.#freezer.isFrozen(name, first)) ? "paused" : "running";
      return { name, phase, pid: first.pid };
    }
    const { exitCode } = await this.#records.report(name);
    return { name, phase: "stopped", exitCode, diagnostics: this.#chains.get(name)?.diagnostics() };
  }

  async #findFirst(record: BoxRecord): Promise<ProcessIdentity | undefined> {
    const { childPid } =
      record.first === undefined ? await this.#records.report(record.name) : { childPid: undefined };
    return findFirst(record, this.#bootId, childPid);
  }

  /** After the box's first process is gone: waits for the last word, says how it ended, gives back its groups. */
  async #settle(name: string, first: ProcessIdentity): Promise<RuntimeStatus> {
    // The chain may have been killed from outside; the box dies with it, a moment later.
    await waitUntilGone(first, 5_000);
    const record = await this.#records.find(name);
    if (record?.chain !== undefined) await waitUntilGone(record.chain, 2_000);
    const status = (await this.#status(name)) ?? { name, phase: "stopped" };
    // Not waited for, because verbs wait for this; in turn with them, because the next run may be on its way.
    void this.#verbs.run(name, () => this.#releaseIfEnded(name)).catch(() => undefined);
    return status;
  }

  async #releaseIfEnded(name: string): Promise<void> {
    if ((await this.#status(name))?.phase !== "stopped") return;
    await this.#limiter.release(name);
    await this.#lower(name);
    await this.#guard.lower(name);
  }
}
