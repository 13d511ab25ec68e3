/**
 * What packages of the host have below /etc, for boxes to read. Only files that are exactly as a package of Debian brought
 * them: their content is public, and whatever a person wrote into one is not shown. They are copied once for each state of
 * dpkg, so a file that is changed later changes nothing in a box.
 */
import { createHash } from "node:crypto";
import { constants, statSync } from "node:fs";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isWithin } from "../../contract/mount-paths.ts";

export interface StagedEtc {
  readonly directory: string;
  /** The entries of the directory, each to be found at `/etc/<name>`. */
  readonly names: readonly string[];
}

/** Raised when the rules below change, so that nothing staged by older ones is shown. */
const rules = 2;
const keptStages = 5;
const maxFileBytes = 4 * 2 ** 20;
const maxLinks = 4000;

/**
 * Of no use in a box: accounts, the network, and how the machine itself is run. A box has its own for some of them, such as
 * the prompt of its shells.
 * SECURITY: no content depends on this list; what is not as its package brought it is shown nowhere.
 */
const machines =
  /^(?:adduser|apparmor|apt$|bash\.bashrc|ca-certificates|containerd|cron|default$|deluser|docker|dpkg|fstab|gitconfig|group|gshadow|host|init|issue|kernel|ld\.so|libaudit|login|logrotate|machine|modprobe|modules|motd|mtab|network|nsswitch|pam|passwd|polkit|rc|resolv|runit|security|selinux|shadow|ssh|ssl|sub[gu]id|sudo|sv$|sysctl|systemd|udev|ufw|update-motd)/;

interface ConfigFile {
  readonly path: string;
  readonly md5: string;
}

/** The configuration files of installed packages, from dpkg's own record. Pure. */
export function configFiles(status: string): readonly ConfigFile[] {
  const found: ConfigFile[] = [];
  for (const block of status.split("\n\n")) {
    if (!/^Status: \S+ \S+ installed$/m.test(block)) continue;
    const list = /^Conffiles:\n((?: .*(?:\n|$))+)/m.exec(block)?.[1] ?? "";
    // A third word says that the file is none any more: obsolete, or to be removed.
    for (const [, path = "", md5 = ""] of list.matchAll(/^ (\/etc\/\S+) ([0-9a-f]{32})$/gm))
      if (resolve(path) === path && !machines.test(path.split("/")[2] ?? "")) found.push({ path, md5 });
  }
  return found;
}

export class HostEtc {
  readonly #stagesDir: string;
  readonly #root: string;
  #current: { readonly key: string; readonly staged: StagedEtc } | undefined;
  #staging: Promise<StagedEtc | undefined> | undefined;

  /** `root` is where the system is that is shown; `/`, but for tests. */
  constructor(stagesDir: string, root = "/") {
    this.#stagesDir = stagesDir;
    this.#root = root;
  }

  /** Undefined on a system without dpkg, and when it cannot be copied: a box then has none of it. */
  async stage(): Promise<StagedEtc | undefined> {
    const key = this.#key();
    if (key === undefined) return undefined;
    if (this.#current?.key === key) return this.#current.staged;
    this.#staging ??= this.#open(key).finally(() => {
      this.#staging = undefined;
    });
    const staged = await this.#staging.catch(() => undefined);
    if (staged !== undefined) this.#current = { key, staged };
    return staged;
  }

  #key(): string | undefined {
    const status = statSync(this.#statusPath, { bigint: true, throwIfNoEntry: false });
    if (status === undefined) return undefined;
    const { dev, ino, size, mtimeNs } = status;
    const identity = [rules, dev, ino, size, mtimeNs].join(":");
    return createHash("sha256").update(identity).digest("hex").slice(0, 16);
  }

  get #statusPath(): string {
    return join(this.#root, "var/lib/dpkg/status");
  }

  async #open(key: string): Promise<StagedEtc> {
    const directory = join(this.#stagesDir, `.etc-${key}`);
    const names = await readdir(directory).catch(() => undefined);
    if (names !== undefined) return { directory, names: names.toSorted() };
    const temporary = await mkdtemp(join(this.#stagesDir, ".new-etc-"));
    try {
      await this.#fill(temporary);
      // A box's user reads it; what is in it is public.
      await chmod(temporary, 0o755);
      // Another runtime of this daemon may have been quicker.
      await rename(temporary, directory).catch((error: unknown) => {
        if (statSync(directory, { throwIfNoEntry: false }) === undefined) throw error;
      });
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
    await this.#removeOld(directory);
    return { directory, names: (await readdir(directory)).toSorted() };
  }

  async #fill(stage: string): Promise<void> {
    const shown = new Set<string>();
    const files = configFiles(await readFile(this.#statusPath, "utf8"));
    for (const file of files) {
      const directory = dirname(file.path);
      if (!(await this.#isOpenDirectory(directory))) continue;
      // Also without the file: programs that read every file of a directory fail when there is none.
      await this.#makeDirectory(stage, directory, shown);
      const copy = await this.#readAsBrought(file);
      if (copy === undefined) continue;
      await writeFile(inStage(stage, file.path), copy.content, { mode: copy.mode, flag: "wx" });
      await chmod(inStage(stage, file.path), copy.mode);
      shown.add(file.path);
    }
    const tops = new Set([...shown].map((path) => path.split("/")[2] ?? "").filter(Boolean));
    const links: { path: string; target: string }[] = [];
    for (const name of tops) if (shown.has(`/etc/${name}`)) await this.#findLinks(`/etc/${name}`, links);
    // A link to a link, such as my.cnf of alternatives, leads on in the box by itself.
    for (const { path, target } of links.filter((link) => isShown(link.target, shown))) {
      await this.#makeDirectory(stage, dirname(path), shown);
      await symlink(target, inStage(stage, path));
    }
  }

  async #makeDirectory(stage: string, path: string, shown: Set<string>): Promise<void> {
    if (path === "/etc" || shown.has(path)) return;
    await this.#makeDirectory(stage, dirname(path), shown);
    await mkdir(inStage(stage, path), { mode: 0o755 });
    await chmod(inStage(stage, path), 0o755);
    shown.add(path);
  }

  /** SECURITY: a directory that is closed to others, or is somewhere else by a link, is not looked into. */
  async #isOpenDirectory(path: string): Promise<boolean> {
    if (path === "/etc") return true;
    const found = await lstat(join(this.#root, path)).catch(() => undefined);
    if (found === undefined || !found.isDirectory() || (found.mode & 0o005) !== 0o005) return false;
    return this.#isOpenDirectory(dirname(path));
  }

  /**
   * SECURITY: through no link, a regular file that all users of the host can read, and byte for byte what the package
   * brought. A password that a person wrote into it makes it another file.
   */
  async #readAsBrought({ path, md5 }: ConfigFile): Promise<{ content: Buffer; mode: number } | undefined> {
    const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
    const handle = await open(join(this.#root, path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
      () => undefined,
    );
    if (handle === undefined) return undefined;
    try {
      const found = await handle.stat();
      if (!found.isFile() || (found.mode & 0o004) === 0 || found.size > maxFileBytes) return undefined;
      const content = await handle.readFile();
      if (createHash("md5").update(content).digest("hex") !== md5) return undefined;
      return { content, mode: (found.mode & 0o111) === 0 ? 0o644 : 0o755 };
    } finally {
      await handle.close();
    }
  }

  /** Links are read and never followed. */
  async #findLinks(path: string, links: { path: string; target: string }[]): Promise<void> {
    if (links.length >= maxLinks || !(await this.#isOpenDirectory(path))) return;
    const entries = await readdir(join(this.#root, path), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const full = `${path}/${entry.name}`;
      if (entry.isDirectory()) await this.#findLinks(full, links);
      else if (entry.isSymbolicLink())
        links.push({ path: full, target: resolve(path, await readlink(join(this.#root, full))) });
    }
  }

  /** A box that still runs may have an older one mounted. */
  async #removeOld(current: string): Promise<void> {
    const names = (await readdir(this.#stagesDir)).filter((name) => /^\.etc-[0-9a-f]{16}$/.test(name));
    const stages = names.map((name) => join(this.#stagesDir, name)).filter((path) => path !== current);
    const ages = await Promise.all(stages.map(async (path) => ({ path, ms: (await lstat(path)).ctimeMs })));
    const old = ages.toSorted((a, b) => b.ms - a.ms).slice(keptStages - 1);
    for (const { path } of old) await rm(path, { recursive: true, force: true });
  }
}

const inStage = (stage: string, path: string): string => join(stage, path.slice("/etc".length));

/** Where a box has something: its own /usr, the alternatives, and what was copied. */
const isShown = (target: string, shown: ReadonlySet<string>): boolean =>
  isWithin(target, "/usr") || isWithin(target, "/etc/alternatives") || shown.has(target);
