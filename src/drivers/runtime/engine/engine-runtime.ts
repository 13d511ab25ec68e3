/**
 * Boxes as containers of an engine. The engine and its labels are the only memory that matters: every verb asks there
 * first, so that a daemon that was killed between any two steps finds exactly what lives.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AgentBoxError, messageOf } from "../../../base/errors.ts";
import { KeyedMutex } from "../../../base/mutex.ts";
import type { Isolation } from "../../../contract/box.ts";
import type { ContainerDescription } from "../../../contract/container.ts";
import { type Engine, explainEngineError } from "../../../host/engine/index.ts";
import type { Runtime, RuntimeBox, RuntimeStatus, RuntimeUsage } from "../../../ports/runtime.ts";
import { Guard } from "../guard.ts";
import { OwnerMaps } from "../owner-maps.ts";
import { checkMounts, checkSkills } from "../mounts.ts";
import { identify, type ProcessIdentity, usageFromProc } from "../process-tree.ts";
import { signalFreezer } from "../signal-freezer.ts";
import { type BaseImage, baseImage, importBaseImage } from "./base-image.ts";
import { containerBody, userInside } from "./container-config.ts";
import { Containers, engineStatus, type Found, isGone } from "./containers.ts";
import { createContainer, startFailure } from "./create-container.ts";
import { describeBody } from "./description.ts";
import { EndWatch } from "./end-watch.ts";
import { refuseUnusable } from "./exceptions.ts";
import { type Boundary, isolationOf, refuseUnenforceable } from "./guarantees.ts";
import { checkLabels, checkName, type Installation, ownLabels } from "./labels.ts";
import { prepare, removePreparations } from "./preparation.ts";
import { createSecretsVolume, removeSecretsVolume } from "./secrets-volume.ts";
import { usageFromStats } from "./usage.ts";

/** How long an engine takes to say that something has ended whose processes are gone. */
const endingMs = 3_000;
/** Below this, uids belong to the host's own services. */
const firstBoxUid = 1000;

/**
 * Of the 65,536 users that a map has: away from the low numbers, which other containers of the same engine run as and
 * which would be the same users of this host.
 */
const mappedUsers = { skip: 20_000, count: 40_000 };

export interface EngineRuntimeOptions {
  readonly engine: Engine;
  readonly boxesDir: string;
  readonly installation: Installation;
  readonly boundary: Boundary;
  readonly ociRuntime?: string | undefined;
}

export class EngineRuntime implements Runtime {
  readonly name: string;
  readonly #options: EngineRuntimeOptions;
  readonly #containers: Containers;
  readonly #guard: Guard;
  readonly #owners: OwnerMaps;
  readonly #ends: EndWatch;
  readonly #verbs = new KeyedMutex();
  readonly #freezesBySignals: boolean;
  #importing: Promise<void> | undefined;

  constructor(options: EngineRuntimeOptions) {
    const { engine, installation, boxesDir } = options;
    const { facts, client } = engine;
    this.name = installation.runtime;
    this.#options = options;
    this.#freezesBySignals = facts.isRootless && facts.cgroupVersion === 1;
    this.#containers = new Containers(client, installation, this.#freezesBySignals);
    this.#guard = new Guard(boxesDir);
    this.#owners = new OwnerMaps(boxesDir);
    this.#ends = new EndWatch({
      client,
      installation,
      isAlive: async (id, box) => (await this.#containers.inspect(id, box))?.phase !== "stopped",
      settle: (box, id) => this.#settle(box, id),
    });
  }

  isolation(box: Pick<RuntimeBox, "resources">): Isolation {
    return isolationOf(box.resources, this.#options.engine.facts, this.#options.boundary);
  }

  owners(): { readonly firstUid: number; readonly count: number } | undefined {
    const { mappedFrom } = this.#options.engine.facts;
    return mappedFrom === undefined
      ? undefined
      : { firstUid: mappedFrom + mappedUsers.skip, count: mappedUsers.count };
  }

  /** Watches boxes that live already, and tidies up after boxes that ended unseen. */
  async adopt(): Promise<void> {
    const found = await this.#asked(() => this.#containers.list());
    const alive = found.filter(({ phase }) => phase !== "stopped");
    for (const { name, id } of alive) this.#ends.watch(name, id);
    // Only boxes of this runtime: those that another one runs are for that one to tidy up.
    for (const { name } of found.filter(({ phase }) => phase === "stopped")) await this.#lower(name);
  }

  start(box: RuntimeBox): Promise<RuntimeStatus> {
    checkName(box.name);
    return this.#verbs.run(box.name, () =>
      this.#asked(async () => {
        const before = await this.#containers.list(box.name);
        const alive = before.find(({ phase }) => phase !== "stopped");
        if (alive !== undefined) return this.#containers.status(alive);
        this.#check(box);
        await refuseUnusable(box, {
          facts: this.#options.engine.facts,
          ociRuntime: this.#options.ociRuntime,
        });
        const { boxesDir } = this.#options;
        const mounts = await checkMounts(box.mounts, { boxesDir, dirs: box.dirs });
        await checkSkills(box.tools.skills, boxesDir);
        await this.#clear(box.name, before);
        return this.#launch({ ...box, mounts });
      }),
    );
  }

  #check(box: RuntimeBox): void {
    refuseUnenforceable(box.resources, this.#options.engine.facts, this.#options.boundary);
    checkLabels(box.labels ?? {});
    if (box.dirs.runtime !== this.#runtimeDir(box.name))
      throw new AgentBoxError("input.invalid", `The records of box "${box.name}" would not be found again.`);
    // SECURITY: a box never has the rights of root or of a service, neither of the host's nor, mapped, of a container's.
    const inside = userInside(this.#options.engine.facts, box.owner);
    const numbers = [box.owner.uid, box.owner.gid, inside.uid, inside.gid];
    if (numbers.every((number) => number >= firstBoxUid)) return;
    const { uid, gid } = box.owner;
    throw new AgentBoxError("box.start_failed", `A box cannot belong to user ${uid}:${gid}.`, {
      hint: `Give it an unprivileged user and group from ${firstBoxUid} on.`,
    });
  }

  #runtimeDir(name: string): string {
    return join(this.#options.boxesDir, name, "runtime");
  }

  /** Gives back what the host held for a box that does not live any more. */
  async #lower(name: string): Promise<void> {
    await this.#owners.lower(name);
    await this.#guard.lower(name);
  }

  async #launch(box: RuntimeBox): Promise<RuntimeStatus> {
    const { engine, installation, ociRuntime, boundary } = this.#options;
    try {
      const prepared = await prepare(box, engine.facts, {
        guard: this.#guard,
        owners: this.#owners,
        boxesDir: this.#options.boxesDir,
      });
      const base = box.image === undefined ? baseImage(prepared.layout) : undefined;
      const secretsVolume =
        engine.facts.kind === "podman"
          ? await createSecretsVolume(engine.client, installation, box.name)
          : undefined;
      const labels = { ...box.labels, ...ownLabels(installation, box.name) };
      const body = containerBody({
        ...prepared,
        image: box.image ?? base?.name ?? "",
        labels,
        secretsVolume,
        facts: engine.facts,
        ociRuntime,
        threadCeiling: boundary.threadCeiling,
      });
      const makeImage = base && (() => this.#import(base));
      const id = await createContainer(engine.client, installation, prepared.box, body, makeImage);
      await engine.client
        .getContainer(id)
        .start()
        .catch((error: unknown) => {
          throw engineStatus(error) === undefined ? error : startFailure(box.name, messageOf(error), error);
        });
      this.#ends.watch(box.name, id);
      return await this.#started(box.name, id);
    } catch (error) {
      // Nothing half-made stays; where the engine is away, the next start or remove finds it by its label.
      await this.#clear(box.name).catch(() => undefined);
      throw error;
    }
  }

  async #started(name: string, id: string): Promise<RuntimeStatus> {
    const found = await this.#containers.inspect(id, name);
    if (found === undefined) throw startFailure(name, "its container is gone");
    return this.#containers.status(found);
  }

  /** Boxes that start side by side wait for one import. */
  async #import(base: BaseImage): Promise<void> {
    this.#importing ??= importBaseImage(this.#options.engine.client, base);
    try {
      await this.#importing;
    } finally {
      this.#importing = undefined;
    }
  }

  /** Ends all remaining processes of a box and frees what it held: the label also finds containers without a record. */
  async #clear(name: string, known?: readonly Found[]): Promise<void> {
    for (const found of known ?? (await this.#containers.list(name))) {
      await this.#kill(found);
      // Before it is gone: how it ended is asked of the engine, and Podman fails to say while it removes.
      await this.#ends.ended(name, found.id);
      const container = this.#options.engine.client.getContainer(found.id);
      await container.remove({ force: true, v: true }).catch(ignoreGone);
    }
    await this.#ends.ended(name);
    const { engine, installation } = this.#options;
    if (engine.facts.kind === "podman") await removeSecretsVolume(engine.client, installation, name);
    await this.#lower(name);
  }

  async #kill(found: Found): Promise<void> {
    if (found.phase === "stopped") return;
    // A kernel of the box's own delivers signals itself, and cannot while it is frozen: the engine would wait for it.
    const hasOwnKernel = this.#options.ociRuntime !== undefined;
    if (hasOwnKernel) await this.#thaw(found);
    await this.#signal(found, "SIGKILL");
    if (!hasOwnKernel) await this.#thaw(found);
    await this.#untilStopped(found, 10_000);
  }

  /**
   * Every engine has words of its own for a signal that meets the end (gVisor: its control server refuses the
   * connection). In any case, a container that has ended meanwhile did what was asked for.
   */
  async #signal(found: Found, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    try {
      await this.#options.engine.client.getContainer(found.id).kill({ signal }).catch(ignoreStopped);
    } catch (error) {
      if (!(await this.#untilStopped(found, endingMs))) throw error;
    }
  }

  async #untilStopped({ id, name }: Found, timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    for (let waitMs = 2; ; waitMs = Math.min(50, waitMs * 2)) {
      const now = await this.#containers.inspect(id, name);
      if (now === undefined || now.phase === "stopped") return true;
      if (performance.now() >= deadline) return false;
      await delay(waitMs);
    }
  }

  stop(name: string, { graceMs }: { readonly graceMs: number }): Promise<void> {
    checkName(name);
    return this.#verbs.run(name, () =>
      this.#asked(async () => {
        const found = await this.#containers.find(name);
        if (found === undefined) return;
        if (found.phase !== "stopped" && graceMs > 0) {
          await this.#thaw(found);
          await this.#signal(found, "SIGTERM");
          await this.#untilStopped(found, graceMs);
        }
        const now = await this.#containers.inspect(found.id, name);
        if (now !== undefined) await this.#kill(now);
        await this.#ends.ended(name, found.id);
        await this.#lower(name);
      }),
    );
  }

  pause(name: string): Promise<void> {
    return this.#whileAlive(name, async (found) => {
      if (found.phase === "paused") return;
      if (this.#freezesBySignals) await signalFreezer.freeze(name, await firstOf(found));
      else await this.#options.engine.client.getContainer(found.id).pause();
    });
  }

  resume(name: string): Promise<void> {
    return this.#whileAlive(name, (found) => this.#thaw(found));
  }

  async #thaw(found: Found): Promise<void> {
    if (found.phase !== "paused") return;
    if (this.#freezesBySignals) {
      const first = found.pid === undefined ? undefined : await identify(found.pid);
      // Without one it was killed where it stood.
      return first === undefined ? undefined : signalFreezer.thaw(found.name, first);
    }
    await this.#options.engine.client.getContainer(found.id).unpause().catch(ignoreStopped);
  }

  async #whileAlive(name: string, action: (found: Found) => Promise<void>): Promise<void> {
    checkName(name);
    await this.#verbs.run(name, () =>
      this.#asked(async () => {
        const found = await this.#containers.find(name);
        if (found === undefined) throw new AgentBoxError("box.not_found", `There is no box "${name}".`);
        if (found.phase === "stopped")
          throw new AgentBoxError("box.wrong_phase", `Box "${name}" is not running.`);
        await action(found);
      }),
    );
  }

  remove(name: string): Promise<void> {
    checkName(name);
    return this.#verbs.run(name, () =>
      this.#asked(async () => {
        await this.#clear(name);
        await removePreparations(this.#runtimeDir(name));
      }),
    );
  }

  async find(name: string): Promise<RuntimeStatus | undefined> {
    checkName(name);
    return this.#asked(async () => {
      const found = await this.#containers.find(name);
      return found === undefined ? undefined : this.#containers.status(found);
    });
  }

  list(): Promise<readonly RuntimeStatus[]> {
    return this.#asked(async () => {
      const found = await this.#containers.list();
      return Promise.all(found.map((one) => this.#containers.status(one)));
    });
  }

  async usage(name: string): Promise<RuntimeUsage | undefined> {
    checkName(name);
    return this.#asked(async () => {
      const found = await this.#containers.find(name);
      if (found === undefined || found.phase === "stopped") return undefined;
      if (this.#freezesBySignals) return usageFromProc(await firstOf(found));
      return usageFromStats(this.#options.engine.client.getContainer(found.id));
    });
  }

  /** Of a box with an image: it has no part of this host's system, and needs none made. */
  async describe(box: RuntimeBox): Promise<ContainerDescription> {
    const { engine, ociRuntime, boundary } = this.#options;
    const emptyParts = { layout: { entries: [], maskedFiles: [] }, files: [], guardedNames: [], labels: {} };
    const { facts } = engine;
    const { threadCeiling } = boundary;
    const image = box.image ?? "";
    return describeBody(
      containerBody({ ...emptyParts, box, image, facts, ociRuntime, threadCeiling, seccomp: "" }),
    );
  }

  onEnd(listener: (status: RuntimeStatus) => void): () => void {
    return this.#ends.listen(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ends.close();
  }

  /** The engine's message is passed on in words that say what a person can do about it. */
  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw explainEngineError(error, this.#options.engine.address);
    }
  }

  async #settle(name: string, id: string): Promise<RuntimeStatus> {
    const found = await this.#containers.inspect(id, name);
    if (found !== undefined && found.phase !== "stopped") await this.#untilStopped(found, 5_000);
    const ended = await this.#containers.inspect(id, name);
    // Not waited for, because verbs wait for this; in turn with them, because the next run may be on its way.
    void this.#verbs.run(name, () => this.#lowerIfEnded(name)).catch(() => undefined);
    return ended === undefined ? { name, phase: "stopped" } : this.#containers.status(ended);
  }

  async #lowerIfEnded(name: string): Promise<void> {
    const now = await this.#containers.find(name);
    if (now === undefined || now.phase === "stopped") await this.#lower(name);
  }
}

async function firstOf({ name, pid }: Found): Promise<ProcessIdentity> {
  const first = pid === undefined ? undefined : await identify(pid);
  if (first !== undefined) return first;
  throw new AgentBoxError("box.wrong_phase", `Box "${name}" is not running.`);
}

const ignoreGone = (error: unknown): void => {
  if (!isGone(error)) throw error;
};

/** In the words of the engines; Podman has no status of its own for it. */
const stoppedAlready =
  /is not (?:running|paused)|(?:is in state|state improper:) (?:exited|removing|stopped|stopping)/;

/** Ended between the look and the request: what was asked for is true already. */
const ignoreStopped = (error: unknown): void => {
  if (isGone(error) || engineStatus(error) === 409 || stoppedAlready.test(messageOf(error))) return;
  throw error;
};
