/**
 * Lets the user of a root daemon's box reach a directory that lies behind closed ones, such as a home of mode 0700: it is
 * mounted once more where only this box's group can pass, and bubblewrap takes it from there.
 */
import { createHash } from "node:crypto";
import { chown, mkdir, readdir, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentBoxError } from "../../../base/errors.ts";
import type { BoxOwner } from "../../../contract/box.ts";
import { ensureDirectory } from "../../../host/files.ts";
import { run } from "../../../host/run.ts";
import type { ShownDirectory } from "../../../ports/runtime.ts";

const passagesRoot = "/run/agentbox";

/** Explains why a box's user cannot get to a path: names the directory that stands in the way. */
export async function findBarrier(path: string, { uid, gid }: BoxOwner): Promise<string | undefined> {
  const above: string[] = [];
  for (let at = dirname(path); ; at = dirname(at)) {
    above.unshift(at);
    if (at === "/") break;
  }
  for (const directory of above) {
    const found = await stat(directory).catch(() => undefined);
    if (found === undefined) return directory;
    const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
    if ((found.mode & bit) === 0) return directory;
  }
  return undefined;
}

export class Passages {
  readonly #root: string;
  readonly #isRoot: boolean;

  constructor(boxesDir: string, uid: number) {
    const installation = createHash("sha256").update(boxesDir).digest("hex").slice(0, 12);
    this.#root = join(passagesRoot, `${installation}-passages`);
    this.#isRoot = uid === 0;
  }

  /** The directories with a source that the box's user reaches. */
  async raise(
    box: { readonly name: string; readonly owner: BoxOwner },
    directories: readonly ShownDirectory[],
  ): Promise<readonly ShownDirectory[]> {
    await this.lower(box.name);
    if (!this.#isRoot) return directories;
    const reached: ShownDirectory[] = [];
    for (const [index, { source, target }] of directories.entries()) {
      const isReachable = (await findBarrier(source, box.owner)) === undefined;
      reached.push({ target, source: isReachable ? source : await this.#open(box, source, String(index)) });
    }
    return reached;
  }

  async #open(
    { name, owner }: { readonly name: string; readonly owner: BoxOwner },
    source: string,
    index: string,
  ): Promise<string> {
    const before = await stat(source, { bigint: true });
    const dir = join(this.#root, name);
    for (const path of [passagesRoot, this.#root]) await ensureDirectory(path, { mode: 0o711 });
    // SECURITY: only this box's group passes, so that no other user of the host sees what lies behind a closed home.
    await ensureDirectory(dir, { mode: 0o710 });
    await chown(dir, 0, owner.gid);
    const target = join(dir, index);
    await mkdir(target, { mode: 0o700 });
    const { code, stderr } = await run([
      "mount",
      "--bind",
      "--make-private",
      "--no-canonicalize",
      source,
      target,
    ]);
    const after = await stat(target, { bigint: true });
    // SECURITY: the directory that was checked is the one that is mounted, even if a part of the path was renamed.
    if (code === 0 && after.dev === before.dev && after.ino === before.ino) return target;
    await this.lower(name);
    throw new AgentBoxError(
      "box.start_failed",
      `${source} could not be shown to the box: ${stderr.trim() || "it was replaced meanwhile"}.`,
      {
        hint: 'Start the box again, or leave toolchains out: [toolchains] find = "none"',
        facts: { box: name, source },
      },
    );
  }

  /** Idempotent; the box does not live any more. */
  async lower(name: string): Promise<void> {
    const dir = join(this.#root, name);
    if (!this.#isRoot) return;
    const entries = await readdir(dir).catch(() => []);
    for (const entry of entries) {
      await run(["umount", "--lazy", "--no-canonicalize", join(dir, entry)]);
      // SECURITY: only an empty mount point goes; one that is still covered is busy.
      await rmdir(join(dir, entry)).catch(() => undefined);
    }
    await rmdir(dir).catch(() => undefined);
  }
}
