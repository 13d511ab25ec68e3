/**
 * A disk of a fixed size in a file: the limit holds for every write of the box, because there is no more space to write
 * to. The file is sparse, so an empty disk of any size costs almost nothing.
 */
import { access, open, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { formatBytes } from "../../base/bytes.ts";
import { ensureDirectory, removeTree } from "../../host/files.ts";
import { run, runOk } from "../../host/run.ts";
import { mountsBelow } from "./mount-table.ts";

/** Below this, most of the disk would be its own bookkeeping. */
const minDiskBytes = 8 << 20;

export async function createDiskImage(image: string, bytes: number): Promise<void> {
  if (bytes < minDiskBytes) {
    throw new AgentBoxError("input.invalid", `A disk limit of ${formatBytes(bytes)} is too small.`, {
      hint: `Ask for at least ${formatBytes(minDiskBytes)}.`,
    });
  }
  const file = await open(image, "wx", 0o600);
  try {
    await file.truncate(bytes);
  } finally {
    await file.close();
  }
  // No journal and nothing reserved: the disk is all the box's. Tables are written when they are first used.
  const features = ["-O", "^has_journal,^resize_inode", "-m", "0", "-i", "8192"];
  const lazily = ["-E", "lazy_itable_init=1,nodiscard"];
  await runOk(["mkfs.ext4", "-q", "-F", ...features, ...lazily, image]);
}

/** Mounts a disk that was just made or has been checked. */
export async function mountDiskImage(image: string, directory: string): Promise<void> {
  // SECURITY: nosuid and nodev, so that nothing the box leaves on its disk has power when root looks at it here.
  const options = "loop,nosuid,nodev,noatime,discard,errors=remount-ro";
  await runOk(["mount", "-t", "ext4", "-o", options, image, directory]);
}

/** Mounts the disk of a box again, if it is not mounted: the host has restarted, perhaps not in an orderly way. */
export async function remountDiskImage(image: string, directory: string): Promise<void> {
  if ((await mountsBelow(directory)).includes(directory)) return;
  // A disk that still has its device is in use in another mount namespace, and repairing it would destroy it.
  const isInUse = (await runOk(["losetup", "--noheadings", "--associated", image])).stdout.trim() !== "";
  if (!isInUse) await checkDiskImage(image);
  await mountDiskImage(image, directory);
}

/** Without a journal, a disk that was not unmounted is whole again only after a check. */
async function checkDiskImage(image: string): Promise<void> {
  const check = await run(["e2fsck", "-p", image], { timeoutMs: 600_000 });
  // 1 means that something was repaired; from 4 on the disk cannot be used.
  if (check.code !== null && check.code < 4) return;
  throw new AgentBoxError("file.failed", `The disk of a box is damaged and could not be repaired: ${image}`, {
    hint: `Look at it with: e2fsck ${image}`,
    facts: { image, output: check.stdout.slice(-500) },
  });
}

/** Unmounts everything at or below a directory; what is busy disappears now and is let go when it is free. */
export async function unmountBelow(directory: string): Promise<void> {
  for (const point of await mountsBelow(directory)) {
    const { code } = await run(["umount", "--no-canonicalize", point]);
    if (code !== 0) await runOk(["umount", "--no-canonicalize", "--lazy", point]);
  }
}

export interface DiskLimit {
  readonly canEnforce: boolean;
  readonly by: string;
}

/** Tries it for real: many hosts have the programs but no loop devices, or the other way round. */
export async function probeDiskLimit(isRoot: boolean, boxesDir: string): Promise<DiskLimit> {
  if (!isRoot) return { canEnforce: false, by: "disk limits need a daemon that runs as root" };
  try {
    await access("/dev/loop-control");
  } catch {
    return { canEnforce: false, by: "this host has no loop devices" };
  }
  const probe = join(boxesDir, ".disk-probe");
  const image = `${probe}.img`;
  const clean = async () => {
    await unmountBelow(probe);
    await removeTree(probe);
    await rm(image, { force: true });
  };
  try {
    await clean();
    await ensureDirectory(probe, { mode: 0o700 });
    await createDiskImage(image, minDiskBytes);
    await mountDiskImage(image, probe);
    await rmdir(join(probe, "lost+found"));
    return { canEnforce: true, by: "a disk image of that size, mounted for the box alone" };
  } catch (error) {
    return { canEnforce: false, by: `a disk image does not work here: ${messageOf(error)}` };
  } finally {
    await clean().catch(() => undefined);
  }
}
