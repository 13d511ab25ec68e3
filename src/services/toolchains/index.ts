/** Finds toolchains in the directories of version managers. Small settings are read with a bound; nothing is run. */
import { open, readdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { isWithin } from "../../contract/mount-paths.ts";
import type { Toolchain, ToolNeed } from "../../contract/toolchain.ts";
import type { FoundToolchain, Toolchains } from "../../ports/toolchains.ts";
import { type Manager, managers, programs } from "./catalogue.ts";
import { chooseVersion } from "./versions.ts";

export interface ToolchainsOptions {
  readonly userHome: string;
  /** The daemon's environment: its PATH, and where version managers keep their files. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const maxSettingBytes = 64 * 1024;
const maxVersions = 500;
const systemPaths = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"];

export const openToolchains = (options: ToolchainsOptions): Toolchains => ({
  find: (needs) => Promise.all(needs.map((need) => findOne(need, options))),
  systemPath: () => systemPath(options),
});

async function findOne(need: ToolNeed, options: ToolchainsOptions): Promise<FoundToolchain> {
  const { language, version } = need;
  const path = [...(await systemPath(options)), "/usr/local/go/bin", ...systemPaths];
  const system = await firstThere(path.map((directory) => join(directory, programs[language])));
  const installed: string[] = [];
  for (const manager of managers.filter((one) => one.language === language)) {
    const root = rootOf(manager, options);
    const names = await versionsOf(manager, root);
    installed.push(...names);
    const chosen =
      manager.versions === undefined
        ? names[0]
        : chooseVersion(version, names, await preferred(manager, root));
    const toolchain = chosen === undefined ? undefined : await describe(manager, root, chosen);
    if (toolchain !== undefined) return { need, toolchain, system, installed };
  }
  const jdk = language === "java" ? await systemJdk(version) : undefined;
  return { need, installed, system, ...omitUndefined({ toolchain: jdk }) };
}

function rootOf({ root: [variable, below] }: Manager, { env, userHome }: ToolchainsOptions): string {
  const named = env[variable];
  return named !== undefined && isAbsolute(named) ? named : join(userHome, below);
}

async function versionsOf({ versions, inside = "" }: Manager, root: string): Promise<string[]> {
  if (versions === undefined) return (await isDirectory(join(root, inside))) ? ["installed"] : [];
  const entries = await readdir(join(root, versions), { withFileTypes: true }).catch(() => []);
  return entries
    .filter(
      (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && /^[0-9A-Za-z][\w.+-]*$/.test(entry.name),
    )
    .slice(0, maxVersions)
    .map(({ name }) => name);
}

async function preferred(
  { preferred: setting, versions }: Manager,
  root: string,
): Promise<string | undefined> {
  if (setting === undefined) {
    // SDKMAN's own choice is a link beside the versions.
    const current = await realpath(join(root, versions ?? "", "current")).catch(() => undefined);
    return current?.split("/").at(-1);
  }
  const [name, pattern] = setting;
  return pattern.exec(await readStart(join(root, name)))?.[1];
}

async function describe(manager: Manager, root: string, version: string): Promise<Toolchain | undefined> {
  const { versions = "", inside = "", name, language, bin, home, rootVariable } = manager;
  const target = join(root, versions, manager.versions === undefined ? "" : version, inside);
  const source = await realpath(target).catch(() => undefined);
  const realRoot = await realpath(root).catch(() => undefined);
  // SECURITY: a link that leads out of the manager's directory is not a toolchain of it.
  if (source === undefined || realRoot === undefined || !isWithin(source, realRoot) || source === realRoot)
    return undefined;
  if (!(await isDirectory(join(source, bin)))) return undefined;
  const directories = [{ source, target }];
  if (source !== target && isWithin(source, root)) directories.push({ source, target: source });
  return {
    language,
    manager: name,
    version,
    directories,
    path: [join(target, bin)],
    env: Object.fromEntries([
      ...(home === undefined ? [] : [[home, target]]),
      ...(rootVariable === undefined ? [] : [[rootVariable, root]]),
    ]),
  };
}

/** Another Java below /usr than the one that is called `java`, which needs no yes. */
async function systemJdk(wanted: string | undefined): Promise<Toolchain | undefined> {
  const major = /^(?:1\.)?(\d+)/.exec(wanted ?? "")?.[1];
  if (major === undefined) return undefined;
  const names = await readdir("/usr/lib/jvm").catch(() => []);
  for (const name of names) {
    if (!new RegExp(`(?:^|-)${major}(?:-|$)`).test(name)) continue;
    const directory = join("/usr/lib/jvm", name);
    if (
      !(await isDirectory(join(directory, "bin"))) ||
      (await firstThere([join(directory, "bin/javac")])) === undefined
    )
      continue;
    const env = { JAVA_HOME: directory };
    return {
      language: "java",
      manager: "system",
      version: major,
      directories: [],
      path: [join(directory, "bin")],
      env,
    };
  }
  return undefined;
}

/** Only what the host's own PATH has below /usr: the box sees /usr as it is. */
async function systemPath({ env }: ToolchainsOptions): Promise<readonly string[]> {
  const found: string[] = [];
  for (const directory of (env["PATH"] ?? "").split(":")) {
    if (!isAbsolute(directory) || systemPaths.includes(directory)) continue;
    const real = await realpath(directory).catch(() => undefined);
    if (real === undefined || !isWithin(real, "/usr") || systemPaths.includes(real) || found.includes(real))
      continue;
    if (await isDirectory(real)) found.push(real);
  }
  return found;
}

async function readStart(path: string): Promise<string> {
  try {
    await using file = await open(path, "r");
    if (!(await file.stat()).isFile()) return "";
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxSettingBytes), 0, maxSettingBytes, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return "";
  }
}

const isDirectory = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

async function firstThere(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await stat(path).catch(() => undefined)) return path;
  return undefined;
}
